import {
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getArgumentValues,
  isListType,
  isNonNullType,
  isType,
  type SelectionSetNode,
} from 'graphql';
import {
  type CollectedField,
  collectFields,
  type GraphqlDocumentContext,
  selectionSetsOf,
} from '../plan/collect-fields.ts';

/** Renders a value of one type with a selection as JSON. @throws TypeError for null in place of a non-null value. */
type Render = (value: unknown) => string;

interface ObjectMember {
  /** `"key":` */
  readonly start: string;
  readonly render: (source: object) => string;
}

/**
 * Renders `__schema` and `__type` as JSON text, by the resolvers of the graphql package. These are synchronous and do
 * not depend on the position of an object, so the text of a type is rendered once for each selection of it: thousands
 * of fields share the same types. The package would create and complete an object for each of them.
 * @throws where the package would report an error.
 */
export function renderIntrospection(reading: GraphqlDocumentContext, root: CollectedField): string {
  const renders = new Map<SelectionSetNode, Render>();

  function createMember({ key, field, nodes }: CollectedField, parentType?: GraphQLObjectType): ObjectMember {
    const args = field.args.length === 0 ? {} : getArgumentValues(field, nodes[0], reading.variables);
    // The resolvers of introspection use no other members.
    const info = { schema: reading.schema, parentType } as GraphQLResolveInfo;
    const render = createRender(field.type, selectionSetsOf(nodes));
    return {
      start: `${JSON.stringify(key)}:`,
      render: (source) => render(field.resolve?.(source, args, undefined, info)),
    };
  }

  function createRender(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): Render {
    if (isNonNullType(type)) {
      const inner = createRender(type.ofType, sets);
      return (value) => {
        if (value === null || value === undefined) throw new TypeError(`${String(type)} is null`);
        return inner(value);
      };
    }
    const inner = isListType(type) ? createListRender(createRender(type.ofType, sets)) : createValueRender(type, sets);
    return (value) => (value === null || value === undefined ? 'null' : inner(value));
  }

  function createValueRender(type: GraphQLOutputType, sets: readonly SelectionSetNode[]): Render {
    if (type instanceof GraphQLObjectType) return createObjectRender(type, sets);
    if ('coerceOutputValue' in type) return (value) => JSON.stringify(type.coerceOutputValue(value));
    throw new TypeError(`introspection has no values of the type ${String(type)}`);
  }

  /** Collects the members with the first value: most nested selections of `ofType` are never reached. */
  function createObjectRender(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Render {
    const [only] = sets;
    const cached = sets.length === 1 && only ? renders.get(only) : undefined;
    if (cached) return cached;
    const texts = new Map<unknown, string>();
    let members: readonly ObjectMember[] | undefined;
    const render: Render = (value) => {
      const rendered = texts.get(value);
      if (rendered !== undefined) return rendered;
      members ??= collectFields(reading, type, sets).map((one) => createMember(one, type));
      let text = '';
      for (const part of members) text += `${text === '' ? '{' : ','}${part.start}${part.render(value as object)}`;
      text = text === '' ? '{}' : `${text}}`;
      if (isType(value)) texts.set(value, text);
      return text;
    };
    if (sets.length === 1 && only) renders.set(only, render);
    return render;
  }

  return createMember(root).render({});
}

/** `join` creates a flat string; a concatenated one in the cache would retain all its pieces. */
const createListRender =
  (inner: Render): Render =>
  (values) =>
    `[${Array.from(values as Iterable<unknown>, inner).join(',')}]`;
