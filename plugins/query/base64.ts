/** The bytes that a base64 text stands for; undefined where it is not base64 with its padding, as `bytea` reads in answers. */
export function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
