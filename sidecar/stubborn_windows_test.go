package sidecar

func stubbornServer() {}
