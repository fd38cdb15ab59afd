"""Options that several commands have."""

import typer

SCANS = typer.Argument(..., help="Folder of scans, or a bag (mcap, sqlite3, ROS 1).")
TOPIC = typer.Option(None, help="PointCloud2 topic of a bag. Default: its only one.")
COLUMNS = typer.Option(
    None, help="Columns of .bin and text files that do not name them: their number (5) or names (t,x,y,z)."
)
WEIGHTS = typer.Option(None, help="Weights file, or 'none' for no network. Default: the packaged weights.")
NETWORKS = typer.Option([], help="FILE for PRNet, METHOD=FILE, or prnet:LABEL=FILE for another row; repeatable.")
DEVICE = typer.Option("auto", help="Device of the network: auto, cpu or cuda.")
LIMIT = typer.Option(None, help="Only this many pairs, spread over the shapes.")
THREADS = typer.Option(1, min=1, help="Threads of the refinement.")
REFINEMENT = typer.Option(None, hidden=True, help="Deprecated: GICP refines always.")
