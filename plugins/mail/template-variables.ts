import type { MailVariables } from './contract.ts';

/** The address of the service without a slash at its end; undefined where PUBLIC_URL is not absolute. */
function parsePublicUrl(text: string): string | undefined {
  const url = URL.parse(text);
  return url && /^https?:$/.test(url.protocol) ? text.replace(/\/+$/, '') : undefined;
}

/**
 * Creates the function that reads the variables of all templates: `projectUrl`, null where PUBLIC_URL is not absolute, and those that
 * plugins contribute.
 */
export const createVariablesReader =
  (publicUrl: string, contributed: () => readonly MailVariables[]) =>
  async (): Promise<Readonly<Record<string, unknown>>> => {
    const all = await Promise.all(contributed().map((one) => one.read()));
    const projectUrl = parsePublicUrl(publicUrl) ?? null;
    return Object.assign({ projectName: '', projectColor: '#6644FF', projectLogo: null, projectUrl }, ...all);
  };
