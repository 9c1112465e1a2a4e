/** The file name of a URL: the last segment of its path; undefined without one. */
export function fileNameFromUrl({ pathname }: URL): string | undefined {
  const last = pathname.split('/').findLast((part) => part !== '') ?? '';
  const text = decode(last);
  // The segment may contain encoded separators: the name is what follows the last one.
  return text.split(/[\\/]/).findLast((part) => part.trim() !== '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
