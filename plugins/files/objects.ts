import type { Location } from '../storage/contract.ts';
import { variantPrefix } from '../storage/library.ts';

/** Removes an object and everything made of it, which goes first: without its source nobody would look for it. */
export async function removeObject(location: Location, name: string): Promise<void> {
  for await (const variant of location.list(variantPrefix(name))) await location.remove(variant.name);
  await location.remove(name);
}
