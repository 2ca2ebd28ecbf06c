package main

func stubbornServer() {}
