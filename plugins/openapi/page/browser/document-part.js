// The part of a document that is about one tag. Swagger UI takes a minute to show the document of 300 tables as a whole.

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];
const OTHERS = 'x-oai-additionalOperations';
const SCHEMAS = '#/components/schemas/';

/** Relations that the schemas of a part lead over: those behind are named only. */
const DEPTH = 1;

/** All operations, as `{ method, path, operation }`. */
const listOperations = ({ paths }) =>
  Object.entries(paths).flatMap(([path, item]) => [
    ...METHODS.filter((method) => item[method]).map((method) => ({ method, path, operation: item[method] })),
    ...Object.entries(item[OTHERS] ?? {}).map(([method, operation]) => ({ method, path, operation })),
  ]);

/** A document with the operations of a tag and the components that they refer to. */
function documentPart(document, tag) {
  const operations = listOperations(document).filter(({ operation }) => operation.tags.includes(tag));
  const paths = {};
  for (const { method, path, operation } of operations)
    if (METHODS.includes(method)) paths[path] = { ...paths[path], [method]: operation };
  const others = operations.filter(({ method }) => !METHODS.includes(method));
  const { description = '', ...rest } = document.tags.find(({ name }) => name === tag) ?? { name: tag };
  // Swagger UI knows no other methods.
  const notes = others.map(({ method, path, operation }) => `\`${method} ${path}\` ${operation.summary}`);
  const { parameters, responses, securitySchemes, schemas } = document.components;
  const used = usedResponses(operations, responses);
  return {
    ...document,
    tags: [{ ...rest, description: [description, ...notes].filter(Boolean).join('\n\n') }],
    paths,
    components: {
      parameters,
      securitySchemes,
      responses: used,
      schemas: usedSchemas([paths, used, parameters], schemas),
    },
  };
}

const RESPONSES = '#/components/responses/';

function usedResponses(operations, responses) {
  const names = new Set(referencesIn(operations, RESPONSES));
  return Object.fromEntries(Object.entries(responses).filter(([name]) => names.has(name)));
}

/** The schemas that `places` refer to, and those that these refer to; the last of them without what they refer to. */
function usedSchemas(places, schemas) {
  const used = new Map();
  let names = [...new Set(referencesIn(places, SCHEMAS))];
  for (let depth = 0; names.length > 0; depth++) {
    const isLast = depth > DEPTH;
    for (const name of names) used.set(name, isLast ? { type: 'object', title: name } : schemas[name]);
    names = isLast
      ? []
      : [
          ...new Set(
            referencesIn(
              names.map((name) => schemas[name]),
              SCHEMAS,
            ),
          ),
        ].filter((name) => !used.has(name));
  }
  return Object.fromEntries(used);
}

function referencesIn(value, prefix) {
  return [...JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)]
    .map(([, reference]) => reference)
    .filter((reference) => reference.startsWith(prefix))
    .map((reference) => reference.slice(prefix.length));
}

// Scripts have a hash in their names, so that they do not import each other.
globalThis.documentParts = { documentPart, listOperations };
