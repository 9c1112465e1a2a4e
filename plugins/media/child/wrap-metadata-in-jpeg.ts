interface MetadataBlocks {
  readonly exif?: Buffer;
  readonly xmp?: Buffer;
  readonly icc?: Buffer;
}

/**
 * Wraps metadata blocks of another image format into a JPEG without pixels, since exifr reads JPEG. Leaves out a block
 * too long for one segment.
 */
export function buildMetadataJpeg({ exif, xmp, icc }: MetadataBlocks): Buffer {
  const start =
    exif?.subarray(0, 4).toString('latin1') === 'Exif' ? exif : exif && Buffer.concat([name('Exif\0\0'), exif]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe1, start),
    segment(0xe1, xmp && Buffer.concat([name('http://ns.adobe.com/xap/1.0/\0'), xmp])),
    segment(0xe2, icc && Buffer.concat([name('ICC_PROFILE\0\u0001\u0001'), icc])),
    Buffer.from([0xff, 0xd9]),
  ]);
}

const name = (text: string): Buffer => Buffer.from(text, 'latin1');

function segment(marker: number, content: Buffer | undefined): Buffer {
  if (!content || content.length > 0xffff - 2) return Buffer.alloc(0);
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([head, content]);
}
