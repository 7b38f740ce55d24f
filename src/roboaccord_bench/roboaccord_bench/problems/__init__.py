"""Problems of the bench, a file each; each has a `Problem` under the name PROBLEM."""
