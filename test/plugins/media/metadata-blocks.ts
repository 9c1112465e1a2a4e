/** Builds EXIF, IPTC and XMP metadata, in the segments that cameras and programs write into JPEGs. */

const segment = (marker: number, content: Buffer): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([head, content]);
};

/** Inserts a segment into a JPEG, right after its start marker. */
const insertSegment = (jpeg: Buffer, marker: number, content: Buffer): Buffer =>
  Buffer.concat([jpeg.subarray(0, 2), segment(marker, content), jpeg.subarray(2)]);

/** Inserts IPTC records, `[number of the field, value]`, into a JPEG, in the segment that Photoshop uses. */
export function withIptc(jpeg: Buffer, fields: readonly (readonly [number, string])[]): Buffer {
  const records = fields.map(([field, value]) => {
    const bytes = Buffer.from(value, 'utf8');
    return Buffer.concat([Buffer.from([0x1c, 2, field, bytes.length >> 8, bytes.length & 255]), bytes]);
  });
  const data = Buffer.concat([Buffer.from([0x1c, 1, 90, 0, 3, 0x1b, 0x25, 0x47]), ...records]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const block = [
    Buffer.from('Photoshop 3.0\x008BIM\x04\x04\0\0', 'latin1'),
    length,
    data,
    Buffer.alloc(data.length % 2),
  ];
  return insertSegment(jpeg, 0xed, Buffer.concat(block));
}

type Entry = readonly [tag: number, type: 1 | 2 | 3 | 4 | 5 | 7 | 10, value: string | readonly number[] | Buffer];

const SIZES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 10: 8 };

function bytesOf([, type, value]: Entry): Buffer {
  if (typeof value === 'string') return Buffer.from(`${value}\0`, 'latin1');
  if (Buffer.isBuffer(value)) return value;
  if (type === 1 || type === 7) return Buffer.from(value);
  const width = type === 3 ? 2 : 4;
  const bytes = Buffer.alloc(value.length * width);
  value.forEach((one, at) => {
    if (width === 2) bytes.writeUInt16BE(one, at * 2);
    else if (type === 10) bytes.writeInt32BE(one, at * 4);
    else bytes.writeUInt32BE(one, at * 4);
  });
  return bytes;
}

/** Encodes an EXIF directory (IFD) at the offset `start`, with values over four bytes after its table. */
function directory(entries: readonly Entry[], start: number): Buffer {
  const table = Buffer.alloc(2 + entries.length * 12 + 4);
  table.writeUInt16BE(entries.length, 0);
  const longValues: Buffer[] = [];
  let end = start + table.length;
  entries.forEach((entry, at) => {
    const bytes = bytesOf(entry);
    const place = 2 + at * 12;
    table.writeUInt16BE(entry[0], place);
    table.writeUInt16BE(entry[1], place + 2);
    table.writeUInt32BE(bytes.length / (SIZES[entry[1]] ?? 1), place + 4);
    if (bytes.length <= 4) bytes.copy(table, place + 8);
    else {
      table.writeUInt32BE(end, place + 8);
      longValues.push(bytes);
      end += bytes.length;
    }
  });
  return Buffer.concat([table, ...longValues]);
}

/** Builds an EXIF block from the entries of its three directories. */
export function exifBlock(ifd0: readonly Entry[], exif: readonly Entry[], gps: readonly Entry[]): Buffer {
  const start = 8;
  const pointed = (one: number, two: number) => [...ifd0, [0x8769, 4, [one]] as const, [0x8825, 4, [two]] as const];
  const first = start + directory(pointed(0, 0), start).length;
  const inner = directory(exif, first);
  const outer = directory(gps, first + inner.length);
  return Buffer.concat([
    Buffer.from('Exif\0\0MM\0*\0\0\0\x08', 'latin1'),
    directory(pointed(first, first + inner.length), start),
    inner,
    outer,
  ]);
}

export const withExif = (jpeg: Buffer, block: Buffer): Buffer => insertSegment(jpeg, 0xe1, block);

export const withXmp = (jpeg: Buffer, xmp: string): Buffer =>
  insertSegment(jpeg, 0xe1, Buffer.from(`http://ns.adobe.com/xap/1.0/\0${xmp}`, 'utf8'));
