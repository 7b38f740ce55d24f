"""Studies that go beyond the source documents, a folder for each robot.

Folders of further robots may be added; a folder must be imported only where its robot is installed.
"""
