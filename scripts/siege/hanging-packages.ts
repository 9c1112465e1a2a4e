import { installConfinedEndpoint } from '../bench/confined-handlers.ts';

/** A handler that waits until its deadline. */
const WAITING = 'await new Promise((resolve) => setTimeout(resolve, 60_000));';

/** Writes `count` public confined packages and returns their paths. */
export async function installHangingPackages(folder: string, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, at) => `waits${at}`);
  for (const name of names) await installConfinedEndpoint(folder, name, WAITING);
  return names;
}
