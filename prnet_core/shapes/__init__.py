"""Sets of shapes: meshes, ModelNet40, ShapeNetCore, folders of scans."""
