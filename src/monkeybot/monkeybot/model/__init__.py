"""Equations and parameters of the MonkeyBot: a hybrid system of three modes."""
