import type { MailVariables } from './contract.ts';

/** The address of the service without a slash at its end; null where PUBLIC_URL is not absolute. */
function parsePublicUrl(text: string): string | null {
  const url = URL.parse(text);
  return url && /^https?:$/.test(url.protocol) ? text.replace(/\/+$/, '') : null;
}

/** Creates the function that reads the variables of all templates: defaults, `projectUrl`, and those that plugins contribute. */
export function createVariablesReader(
  publicUrl: string,
  contributed: () => readonly MailVariables[],
): () => Promise<Readonly<Record<string, unknown>>> {
  const projectUrl = parsePublicUrl(publicUrl);
  return async () => {
    const all = await Promise.all(contributed().map((one) => one.read({ projectUrl })));
    return Object.assign({ projectName: '', projectColor: '#6644FF', projectLogo: null, projectUrl }, ...all);
  };
}
