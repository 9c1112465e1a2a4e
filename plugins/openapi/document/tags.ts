import type { OpenApiTag } from '../contract.ts';
import type { DocumentedRoute } from './documented-route.ts';
import { rowSchemaName } from './names.ts';
import type { VisibleSchema } from './visible-schema.ts';

/** Tags that the specification calls otherwise (specification, "Server endpoints"). */
const SPECIFIED: Readonly<Record<string, string>> = {
  authentication: 'Auth',
  collections: 'Schema',
  fields: 'Schema',
  relations: 'Schema',
  utils: 'Utilities',
};

/** Of the mounts of extensions, and of the routes that administer extensions. */
export const EXTENSIONS_TAG = 'Extensions';

/** The tag of a route: that of its description, else the first segment of its path, with a capital letter. */
export function tagNameOf({ path, description }: Pick<DocumentedRoute, 'path' | 'description'>): string {
  const tag = description.tag ?? path.split('/')[1] ?? '';
  return SPECIFIED[tag] ?? tag.charAt(0).toUpperCase() + tag.slice(1);
}

/** The tag of the routes at `/items/<collection>`. */
export const itemsTagName = rowSchemaName;

/** The tags of these operations in their order; `collections` by tag, for those whose operations are about one. */
export const renderTags = (
  names: Iterable<string>,
  collections: ReadonlyMap<string, string>,
  { collections: visible }: VisibleSchema,
): readonly OpenApiTag[] =>
  [...new Set(names)].map((name): OpenApiTag => {
    const collection = collections.get(name);
    const note = collection === undefined ? undefined : visible.get(collection)?.note;
    return {
      name,
      ...(note ? { description: note } : {}),
      ...(collection === undefined ? {} : { 'x-collection': collection }),
    };
  });
