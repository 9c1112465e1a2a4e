import { createHash } from 'node:crypto';
import type { Collection } from '../../schema/contract.ts';

/** Each named statement costs memory on every connection for as long as that lives. */
const MAX_NAMES = 200;
const MAX_SHAPES = 100;
const MAX_TEXT = 12_000;

export interface Shape {
  readonly text: string;
  /** From the second time on: what came twice will come again. */
  name?: string;
  uses: number;
}

/** Statement texts by what they depend on beside the collection. They live as long as the overview does. */
export type Shapes = (collection: Collection, key: string, write: () => string) => Shape;

/** Parsing and planning is most of what a small write costs, so statements that come again are prepared. */
export function createShapes(): Shapes {
  const known = new WeakMap<Collection, Map<string, Shape>>();
  const names = new Set<string>();

  function nameOf({ text }: Shape): string | undefined {
    if (text.length > MAX_TEXT) return undefined;
    const name = `w${createHash('sha1').update(text).digest('base64url')}`;
    if (!names.has(name) && names.size >= MAX_NAMES) return undefined;
    names.add(name);
    return name;
  }

  return (collection, key, write) => {
    let shapes = known.get(collection);
    if (!shapes) {
      shapes = new Map();
      known.set(collection, shapes);
    }
    let shape = shapes.get(key);
    if (!shape) {
      if (shapes.size >= MAX_SHAPES) shapes.clear();
      shape = { text: write(), uses: 0 };
      shapes.set(key, shape);
    }
    shape.uses++;
    if (shape.uses === 2) shape.name = nameOf(shape);
    return shape;
  };
}
