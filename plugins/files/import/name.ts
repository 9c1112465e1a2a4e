/** What a file is called at its address: the last part of the path; undefined where it has none. */
export function nameAt({ pathname }: URL): string | undefined {
  const last = pathname.split('/').findLast((part) => part !== '') ?? '';
  const text = decoded(last);
  // Encoded separators and the like are no folders of ours: what stands behind them is the name.
  return text.split(/[\\/]/).findLast((part) => part.trim() !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
