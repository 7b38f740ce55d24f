"""The Packbot beyond its report: failures found and measured, arms identified, more than recovery.

detection        failed joints from states and efforts; the diagnosis `detected`; its studies
identification   the arm's parameters from a motion; the arm as identified; drawn arms
recovery         what a failed arm reaches, rests in and keeps
cli              commands of `accord packbot` for all that
"""
