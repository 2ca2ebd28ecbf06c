package test

func stubbornServer() {}
