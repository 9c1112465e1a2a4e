import type { StorageLocation } from '../storage/contract.ts';
import { variantPrefix } from '../storage/library.ts';

/** Removes an object and its variants. Variants first: without their source the janitor would not find them. */
export async function removeObjectWithVariants(location: StorageLocation, name: string): Promise<void> {
  for await (const variant of location.list(variantPrefix(name))) await location.remove(variant.name);
  await location.remove(name);
}
