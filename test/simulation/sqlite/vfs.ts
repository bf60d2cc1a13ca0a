import initSqlite, { type Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import { type Disk, sector } from "./disk.ts";

const ok = 0;
const ioError = 10;
const diskFull = 13;
const cannotOpen = 14;
const notFound = 12;
const shortRead = ioError | (2 << 8);
/** A write that is cut off changes nothing beside its own bytes, as SQLite assumes of any disk today. */
const powersafeOverwrite = 0x1000;
/** Of the Julian calendar to that of Unix, ms. */
const julian = 210_866_760_000_000n;

/** The disk in use. SQLite knows one set of functions for all. */
let disk: Disk | undefined;
export const useDisk = (used: Disk): void => {
  disk = used;
};

export const vfsName = "simulated";

interface Struct {
  readonly pointer: number;
  $iVersion: number;
  $szOsFile: number;
  $mxPathname: number;
  $pMethods: number;
  dispose(): void;
}

/** As much of its C interface as a file system needs; the package's own types lack 64-bit numbers and most fields. */
interface Raw {
  readonly capi: {
    readonly sqlite3_io_methods: new () => Struct;
    readonly sqlite3_vfs: new () => Struct;
    readonly sqlite3_file: (new (at: number) => Struct) & { readonly structInfo: { readonly sizeof: number } };
  };
  readonly wasm: {
    heap8u(): Uint8Array;
    poke(at: number, value: number | bigint, kind: "i32" | "i64" | "double"): void;
    cstrToJs(at: number): string | null;
    cstrncpy(to: number, from: number, room: number): number;
  };
}

/** SQLite's own code, on files that exist only here and time that is the world's. */
export async function loadSqlite(): Promise<Sqlite3Static> {
  const sqlite = await initSqlite();
  (sqlite as unknown as { config: { warn: () => void; error: () => void } }).config.warn = () => {};
  const { capi, wasm } = sqlite as unknown as Raw;
  const names = new Map<unknown, string>();
  const current = (): Disk => {
    if (disk === undefined) throw new Error("no disk is in use");
    return disk;
  };
  const fileOf = (pointer: unknown) => current().open(names.get(pointer) ?? "");
  const guarded =
    <Given extends readonly unknown[]>(work: (...given: Given) => number | undefined) =>
    (...given: Given): number => {
      try {
        return work(...given) ?? ok;
      } catch {
        return ioError;
      }
    };
  const heap = (at: number, length: number): Uint8Array => wasm.heap8u().subarray(at, at + length);

  const io = new capi.sqlite3_io_methods();
  io.$iVersion = 1;
  const methods = {
    xClose: (file: number) => {
      names.delete(file);
      return ok;
    },
    xRead: guarded((file: number, to: number, length: number, at: bigint) => {
      const found = fileOf(file).seen.read(Number(at), length);
      const target = heap(to, length);
      target.set(found);
      target.fill(0, found.length);
      return found.length < length ? shortRead : ok;
    }),
    xWrite: guarded((file: number, from: number, length: number, at: bigint) => {
      current().touch();
      if (current().full && Number(at) + length > fileOf(file).seen.size) return diskFull;
      fileOf(file).change({ at: Number(at), data: heap(from, length).slice() });
      return ok;
    }),
    xTruncate: guarded((file: number, size: bigint) => {
      current().touch();
      fileOf(file).change({ size: Number(size) });
    }),
    xSync: guarded((file: number, _flags: number) => {
      current().touch();
      fileOf(file).sync();
    }),
    xFileSize: guarded((file: number, to: number) => {
      wasm.poke(to, BigInt(fileOf(file).seen.size), "i64");
    }),
    xLock: (_file: number, _level: number) => ok,
    xUnlock: (_file: number, _level: number) => ok,
    xCheckReservedLock: (_file: number, to: number) => {
      wasm.poke(to, 0, "i32");
      return ok;
    },
    xFileControl: (_file: number, _op: number, _arg: number) => notFound,
    xSectorSize: (_file: number) => sector,
    xDeviceCharacteristics: (_file: number) => powersafeOverwrite,
  };

  const vfs = new capi.sqlite3_vfs();
  vfs.$iVersion = 2;
  vfs.$szOsFile = capi.sqlite3_file.structInfo.sizeof;
  vfs.$mxPathname = 512;
  const ofVfs = {
    xOpen: (_vfs: number, name: number, file: number, flags: number, to: number) => {
      if (current().off) return cannotOpen;
      const path = wasm.cstrToJs(name) ?? `temporary ${file}`;
      names.set(file, path);
      current().open(path);
      const opened = new capi.sqlite3_file(file);
      opened.$pMethods = io.pointer;
      opened.dispose();
      if (to) wasm.poke(to, flags, "i32");
      return ok;
    },
    xDelete: guarded((_vfs: number, name: number, _sync: number) => {
      current().touch();
      current().files.delete(wasm.cstrToJs(name) ?? "");
    }),
    xAccess: (_vfs: number, name: number, _flags: number, to: number) => {
      wasm.poke(to, current().files.has(wasm.cstrToJs(name) ?? "") ? 1 : 0, "i32");
      return ok;
    },
    xFullPathname: (_vfs: number, name: number, room: number, to: number) =>
      wasm.cstrncpy(to, name, room) < room ? ok : cannotOpen,
    xRandomness: (_vfs: number, length: number, to: number) => {
      heap(to, length).fill(7);
      return length;
    },
    xSleep: (_vfs: number, _us: number) => ok,
    xCurrentTime: (_vfs: number, to: number) => {
      wasm.poke(to, (current().now() + Number(julian)) / 86_400_000, "double");
      return ok;
    },
    xCurrentTimeInt64: (_vfs: number, to: number) => {
      wasm.poke(to, BigInt(Math.floor(current().now())) + julian, "i64");
      return ok;
    },
    xGetLastError: (_vfs: number, _length: number, _to: number) => ok,
  };
  sqlite.vfs.installVfs({
    io: { struct: io, methods },
    vfs: { struct: vfs, methods: ofVfs, name: vfsName, asDefault: false },
  } as never);
  return sqlite;
}
