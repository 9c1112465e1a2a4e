/** Builds silent audio and video files of a chosen duration, byte by byte. */

const text = (value: string) => Buffer.from(value, 'latin1');
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** A WAV file of silence: 8 bits, 8000 Hz. */
export function wav(milliseconds: number): Buffer {
  const samples = (milliseconds * 8000) / 1000;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(8000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples, 40);
  return Buffer.concat([header, Buffer.alloc(samples, 0x80)]);
}

/** An MP3 file of silence: frames at 128 kbit/s and 44.1 kHz, of 417 bytes and 1152 samples each. */
export function mp3(frames: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0xc4]);
  return Buffer.concat(Array<Buffer>(frames).fill(frame));
}

const box = (type: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), text(type), body]);
};
const full = (type: string, ...parts: Buffer[]) => box(type, u32(0), ...parts);

/** An MP4 file with one audio or video track without samples. `before`: bytes of media data in front of the header. */
export function mp4(milliseconds: number, kind: 'soun' | 'vide', before = 0): Buffer {
  const times = Buffer.concat([u32(0), u32(0), u32(1000), u32(milliseconds)]);
  const entry =
    kind === 'soun'
      ? box(
          'mp4a',
          Buffer.alloc(6),
          Buffer.from([0, 1]),
          Buffer.alloc(8),
          Buffer.from([0, 2, 0, 16]),
          u32(0),
          u32((44_100 << 16) >>> 0),
        )
      : box(
          'avc1',
          Buffer.alloc(6),
          Buffer.from([0, 1]),
          Buffer.alloc(16),
          Buffer.from([0, 64, 0, 32]),
          Buffer.alloc(50),
        );
  const tables = box(
    'stbl',
    full('stsd', u32(1), entry),
    full('stts', u32(0)),
    full('stsc', u32(0)),
    full('stsz', u32(0), u32(0)),
    full('stco', u32(0)),
  );
  const media = box(
    'mdia',
    full('mdhd', times, u32(0)),
    full('hdlr', u32(0), text(kind), Buffer.alloc(12), text('\0')),
    box('minf', tables),
  );
  const track = box('trak', full('tkhd', u32(0), u32(0), u32(1), u32(0), u32(milliseconds), Buffer.alloc(60)), media);
  const movie = box('moov', full('mvhd', times, Buffer.alloc(80)), track);
  const type = box('ftyp', text('isom'), u32(512), text('isomiso2avc1mp41'));
  return Buffer.concat([type, box('mdat', Buffer.alloc(before)), movie]);
}
