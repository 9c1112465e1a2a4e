import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { ERRORS } from '../../kernel/errors.ts';
import type { DescribedRoute, JsonSchema, SchemaByMediaType } from '../../plugins/http/contract.ts';
import { pathParameterNames } from '../../plugins/http/library.ts';
import {
  createRouteDescriptionValidator,
  type RouteDescriptionValidator,
  readCorePluginRoutes,
} from '../support/route-descriptions.ts';
import { captureError, silentSettings, withBootedTestPlugins } from '../support/test-plugins.ts';

/** Everything that is wrong with the description of one route. */
function faultsOf(api: RouteDescriptionValidator, { method, path, description }: DescribedRoute): readonly string[] {
  const { summary, access, params = {}, query = {}, body, answers, errors = [] } = description;
  const contents = [...Object.values(answers), ...(body ? [body.content] : [])];
  const parameters = [...Object.values(params), ...Object.values(query)];
  return [
    ...(/^[A-Z].*[^.]\.$/.test(summary) ? [] : [`its summary is no sentence: "${summary}"`]),
    ...(['public', 'user', 'app', 'admin', 'permissions', 'own-token'].includes(access)
      ? []
      : [`its access is "${access}"`]),
    ...(Object.keys(answers).length > 0 || method === '*' ? [] : ['it has no answers']),
    ...(method === 'GET' && body ? ['a GET has a body'] : []),
    ...differences(pathParameterNames(path), Object.keys(params)),
    ...parameters.flatMap((one) => ('$ref' in one || /\S/.test(one.description) ? [] : ['a parameter has no text'])),
    ...errors.filter((code) => !(code in ERRORS)).map((code) => `there is no error code ${code}`),
    ...unresolved(description).map((name) => `its components do not have ${name}`),
    ...contents.flatMap((content) => Object.values(content)).flatMap((schema) => schemaFault(api, schema)),
    ...parameters.flatMap((one) => ('$ref' in one ? [] : schemaFault(api, one.schema))),
  ];
}

function differences(inPath: readonly string[], described: readonly string[]): readonly string[] {
  return [
    ...inPath.filter((name) => !described.includes(name)).map((name) => `params has no "${name}"`),
    ...described.filter((name) => !inPath.includes(name)).map((name) => `the path has no parameter "${name}"`),
  ];
}

function schemaFault(api: RouteDescriptionValidator, schema: JsonSchema): readonly string[] {
  try {
    api.mismatch(schema, null);
    return [];
  } catch (error) {
    return [`${(error as Error).message}: ${JSON.stringify(schema).slice(0, 200)}`];
  }
}

/** Names in `$ref`s of a route description that its `components` do not define. */
function unresolved(description: DescribedRoute['description']): readonly string[] {
  const { components = {} } = description;
  const names = JSON.stringify(description).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g);
  return [...names].flatMap(([, kind, name]) => {
    const known = components[kind as keyof typeof components] ?? {};
    return name !== undefined && Object.hasOwn(known, name) ? [] : [`${kind}/${name}`];
  });
}

const titleOf = ({ method, path, owner }: DescribedRoute): string => `${method} ${path} of ${owner}`;

describe('a contributed route', () => {
  let api: RouteDescriptionValidator;
  before(async () => {
    api = createRouteDescriptionValidator(
      await readCorePluginRoutes({ TUS_ENABLED: 'true', AUTH_EXAMPLE_SCIM_TOKEN: 'unused' }),
    );
  });

  it('has a complete description whose schemas compile', () => {
    const faults = api.routes.flatMap((route) => faultsOf(api, route).map((fault) => `${titleOf(route)}: ${fault}`));
    expect(faults, faults.join('\n')).to.be.empty;
    expect(api.routes).to.have.length.above(100);
  });

  it('uses each component name for one schema only', () => {
    const seen = new Map<string, { readonly shape: unknown; readonly title: string }>();
    const clashes = api.routes.flatMap((route) =>
      Object.entries(route.description.components ?? {}).flatMap(([kind, shapes]) =>
        Object.entries(shapes as SchemaByMediaType).flatMap(([name, shape]) => {
          const before = seen.get(`${kind}/${name}`);
          seen.set(`${kind}/${name}`, before ?? { shape, title: titleOf(route) });
          return before && !isDeepStrictEqual(before.shape, shape)
            ? [`${kind}/${name} is one thing for ${before.title} and another for ${titleOf(route)}`]
            : [];
        }),
      ),
    );
    expect(clashes).to.deep.equal([]);
  });

  it('is described by plain JSON data', () => {
    const lost = api.routes.filter(({ description }) => {
      const text = JSON.stringify(description);
      return !isDeepStrictEqual(JSON.parse(text), description);
    });
    expect(lost.map(titleOf)).to.deep.equal([]);
  });
});

describe('validation of route descriptions', () => {
  const complete = { summary: 'Answers.', access: 'public', answers: { 204: {} } } as const;
  const faults = (path: string, description: object): readonly string[] => {
    const route = {
      owner: 'test',
      method: 'GET',
      path,
      description: { ...complete, ...description },
    } as DescribedRoute;
    return faultsOf(createRouteDescriptionValidator([]), route);
  };

  for (const [title, path, description, fault] of [
    ['a summary that is no sentence', '/a', { summary: 'answers' }, 'its summary is no sentence: "answers"'],
    ['an access that there is not', '/a', { access: 'friends' }, 'its access is "friends"'],
    ['a route without answers', '/a', { answers: {} }, 'it has no answers'],
    ['a parameter of the path without description', '/a/:id', {}, 'params has no "id"'],
    [
      'a described parameter that the path does not have',
      '/a',
      { params: { id: { description: 'A key.', schema: {} } } },
      'the path has no parameter "id"',
    ],
    ['an unknown error code', '/a', { errors: ['SAD'] }, 'there is no error code SAD'],
    [
      'a reference to a shape that is not among its components',
      '/a',
      { query: { sort: { $ref: '#/components/parameters/sort' } } },
      'its components do not have parameters/sort',
    ],
  ] as const) {
    it(`rejects ${title}`, () => {
      expect(faults(path, description)).to.deep.equal([fault]);
    });
  }

  it('rejects a schema with an unknown keyword', () => {
    const [fault] = faults('/a', { answers: { 200: { 'application/json': { typ: 'object' } } } });
    expect(fault).to.include('unknown keyword: "typ"');
  });
});

describe('the facet http.routes', () => {
  it('refuses a route without a description with CAPABILITY_DENIED, naming plugin, method and path', async () => {
    const code = `
      import { routes } from '#root/plugins/http/contract.ts';
      export default { manifest: {}, register: (host) => host.contribute(routes, { method: 'GET', path: '/bare', handle() {} }) };
    `;
    const manifest = { contributes: { 'http.routes': { prefixes: ['/bare'] } } };
    const run = withBootedTestPlugins([{ name: 'bare', manifest, code }], () => undefined, {
      product: ['http'],
      environment: silentSettings,
    });
    const { message, cause } = await captureError(run);
    expect(cause).to.include({ code: 'CAPABILITY_DENIED' });
    expect(message).to.include('bare: contribution to http.routes refused: GET /bare has no description.summary');
  });
});
