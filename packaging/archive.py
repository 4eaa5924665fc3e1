"""Archives with the same bytes for the same content: sorted, of one owner, and of one time."""

import gzip
import io
import tarfile


def compressed(content):
    """A file in gzip, without a name and a time."""
    return gzip.compress(content, compresslevel=9, mtime=0)


def tarball(files, folder, epoch):
    """The bytes of a compressed tar file with one folder. `files` has the content and the mode of each path."""
    entries = {}
    for path, (content, mode) in files.items():
        steps = f"{folder}/{path}".split("/")
        for depth in range(1, len(steps)):
            entries["/".join(steps[:depth])] = None
        entries["/".join(steps)] = (content, mode)
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(entries):
            entry = tarfile.TarInfo(path)
            entry.mtime, entry.uname, entry.gname = epoch, "root", "root"
            if entries[path] is None:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
            else:
                content, entry.mode = entries[path]
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return compressed(output.getvalue())
