import { type Location, variantPrefix } from '../storage/contract.ts';

/** Removes an object and everything made of it, which goes first: without its source nobody would look for it. */
export async function removeObject(location: Location, name: string): Promise<void> {
  for await (const variant of location.list(variantPrefix(name))) await location.remove(variant.name);
  await location.remove(name);
}
