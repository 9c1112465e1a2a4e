/**
 * A query string in one of its equivalent forms: without the token, which the caller stands for, and with its parameters in the order of
 * their names. Parameters of one name (`filter[a]`, `filter[b]`) keep their order, which may have a meaning.
 */
export function normalizeQueryString(text: string): string {
  if (text === '' || (!text.includes('&') && !text.includes('access_token'))) return text;
  const parts = text.split('&');
  const named: { readonly name: string; readonly part: string }[] = [];
  for (const part of parts) {
    const name = parameterNameOf(part);
    // A name that cannot be decoded stands for nothing certain, so the text stays as it is.
    if (name === undefined) return text;
    if (name !== 'access_token') named.push({ name, part });
  }
  return named
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map(({ part }) => part)
    .join('&');
}

/** `filter` of `filter%5Ba%5D=1`. */
function parameterNameOf(part: string): string | undefined {
  const end = part.indexOf('=');
  const raw = end === -1 ? part : part.slice(0, end);
  try {
    const name = raw.includes('%') ? decodeURIComponent(raw) : raw;
    const bracket = name.indexOf('[');
    return bracket === -1 ? name : name.slice(0, bracket);
  } catch {
    return undefined;
  }
}
