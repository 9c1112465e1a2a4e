/** The bytes of a base64 text with padding, as answers show `bytea`; undefined for other texts. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
