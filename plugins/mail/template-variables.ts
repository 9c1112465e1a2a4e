import type { MailVariables } from './contract.ts';
import { parsePublicUrl } from './link-pages.ts';

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
