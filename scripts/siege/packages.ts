import { installConfined } from '../bench/confined-handlers.ts';

/** What a package does that merely waits: as long as its deadline lets it. */
const WAITING = 'await new Promise((resolve) => setTimeout(resolve, 60_000));';

/** Writes as many public confined packages and answers the paths they serve. */
export async function installWaitingPackages(folder: string, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, at) => `waits${at}`);
  for (const name of names) await installConfined(folder, name, WAITING);
  return names;
}
