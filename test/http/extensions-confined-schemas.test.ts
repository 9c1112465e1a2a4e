import { expect } from 'chai';
import { listOperations, readDocument } from '../plugins/openapi/document-check.ts';
import { type InProcessService, startService } from '../support/service.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  listPackageFailures,
  reloadExtensions,
  renderConfinedEndpoint,
} from './confined-packages.ts';

const endpoint = (more: object = {}) => ({
  type: 'endpoint',
  capabilities: { endpoint: { access: 'public' } },
  ...more,
});
const object = (properties: object, required: readonly string[] = [], more: object = {}) => ({
  type: 'object',
  properties,
  required,
  ...more,
});

const ORDER = {
  input: object(
    {
      method: { enum: ['POST', 'GET'] },
      path: { enum: ['/', '/lines'] },
      query: object({ dry: { type: 'string', enum: ['yes', 'no'], description: 'Whether nothing is ordered.' } }),
      body: {
        anyOf: [
          object({ title: { type: 'string', maxLength: 5 }, count: { type: 'integer', minimum: 1 } }, ['title'], {
            additionalProperties: false,
          }),
          { type: 'null' },
        ],
      },
    },
    ['method'],
  ),
  output: object({ status: { enum: [200, 201] }, body: object({ ordered: { type: 'string' } }, ['ordered']) }),
};

describe('schemas of confined endpoints', function () {
  // Packages are validated in a process of their own.
  this.timeout(120_000);

  let packages: ConfinedPackageFolder;
  let service: InProcessService;
  before(async () => {
    packages = await createConfinedPackageFolder();
    await packages.put(
      'service-extension-orders',
      endpoint(ORDER),
      renderConfinedEndpoint(
        'orders',
        `({ body }) => body?.title === 'wrong' ? { body: { ordered: 7 } } : body?.title === 'found' ? { status: 202, body: { ordered: 'x' } } : { status: 201, body: { ordered: body?.title ?? 'none' } }`,
      ),
    );
    await packages.put('service-extension-plain', endpoint(), renderConfinedEndpoint('plain', '() => ({ body: 1 })'));
    service = await startService({ env: { EXTENSIONS_PATH: packages.path } });
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  const order = (body: unknown, path = '/orders') => service.request('POST', path, { body });

  it('a request that matches the input reaches the handler', async () => {
    const { status, body } = await order({ title: 'tea', count: 2 });
    expect([status, body]).to.deep.equal([201, { ordered: 'tea' }]);
    expect((await service.request('GET', '/orders/lines?dry=yes')).status).to.equal(201);
  });

  for (const [title, body, path, at] of [
    ['a value of another type', { title: 1 }, '/orders', ['body', 'title']],
    ['a text that is too long', { title: 'coffee' }, '/orders', ['body', 'title']],
    ['a missing member', { count: 1 }, '/orders', ['body']],
    ['an unknown member', { title: 'tea', more: 1 }, '/orders', ['body']],
    ['an undeclared path', { title: 'tea' }, '/orders/other', ['path']],
    ['an undeclared value of the query', { title: 'tea' }, '/orders?dry=maybe', ['query', 'dry']],
  ] as const) {
    it(`${title} is refused with INVALID_PAYLOAD and the path`, async () => {
      const { status, body: answer } = await order(body, path);
      expect(status).to.equal(400);
      expect(answer.errors[0].extensions).to.deep.include({ code: 'INVALID_PAYLOAD', path: at });
    });
  }

  it('an answer against the output is a failure of the package, and 500 for the client', async () => {
    for (const title of ['wrong', 'found']) {
      const { status, body } = await order({ title });
      expect([status, body.errors[0].message]).to.deep.equal([500, 'An unexpected error occurred.']);
    }
    const failures = await listPackageFailures(service, 'service-extension-orders');
    expect(failures.map(({ code, message }) => [code, message])).to.deep.equal([
      ['INVALID_RESULT', '"status" must be equal to one of the allowed values.'],
      ['INVALID_RESULT', '"body.ordered" must be string.'],
    ]);
  });

  it('the OpenAPI document has the operations that the input declares', async () => {
    const document = await readDocument(service);
    const found = listOperations(document).filter(({ path }) => path.startsWith('/orders'));
    expect(found.map(({ method, path }) => `${method} ${path}`)).to.have.members([
      'POST /orders',
      'GET /orders',
      'POST /orders/lines',
      'GET /orders/lines',
    ]);
    const { operation } = found.find(({ method, path }) => method === 'POST' && path === '/orders') ?? {};
    expect(operation?.tags).to.deep.equal(['Extensions']);
    expect(operation?.parameters).to.deep.equal([
      {
        name: 'dry',
        in: 'query',
        description: 'Whether nothing is ordered.',
        schema: { type: 'string', enum: ['yes', 'no'] },
      },
    ]);
    expect(operation?.requestBody).to.deep.equal({
      required: false,
      content: {
        'application/json': { schema: ORDER.input.properties && (ORDER.input.properties as { body: object }).body },
      },
    });
    expect(Object.keys(operation?.responses ?? {})).to.include.members(['200', '201', '400', '500', 'default']);
    expect(listOperations(document).filter(({ path }) => path === '/plain')).to.have.length(5);
  });

  it('a package cannot put names into the OpenAPI document that would break it', async () => {
    const name = 'service-extension-odd';
    const input = object({ method: { enum: ['summary', 'GET'] }, path: { enum: ['/{id}', 'x', '/:id', '/ok'] } });
    const output = object({ status: { enum: ['many', 200] } });
    await packages.put(name, endpoint({ input, output }), renderConfinedEndpoint('odd', '() => ({ body: 1 })'));
    await reloadExtensions(service);
    const document = await readDocument(service);
    const found = listOperations(document).filter(({ path }) => path.startsWith('/odd'));
    expect(found.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(['GET /odd/ok']);
    expect(Object.keys(found[0]?.operation.responses ?? {})).not.to.include('many');
  });

  for (const [title, declared, detail] of [
    [
      'a pattern',
      { input: object({ body: { type: 'string', pattern: '(a+)+$' } }) },
      'input.properties.body.pattern must be one of the keywords',
    ],
    [
      'a reference',
      { input: object({ body: { $ref: '#' } }) },
      'input.properties.body.$ref must be one of the keywords',
    ],
    [
      'another member of a request',
      { input: object({ headers: { type: 'object' } }) },
      'input.properties must have no member but method, path, query, body',
    ],
    ['no object', { output: { type: 'string' } }, 'output.type must be "object"'],
    [
      'too many alternatives',
      { output: object({ body: { anyOf: Array(17).fill({ type: 'null' }) } }) },
      'must not be over 16 alternatives',
    ],
    [
      'a wrong keyword value',
      { output: object({ body: { type: 'text' } }) },
      'output.properties.body.type must be a type',
    ],
  ] as const) {
    it(`a manifest with ${title} in a schema is MANIFEST_INVALID`, async () => {
      const name = 'service-extension-refused';
      await packages.put(name, endpoint(declared), renderConfinedEndpoint('refused', '() => ({ body: 1 })'));
      await reloadExtensions(service);
      const row = (await listExtensions(service))[name];
      expect(row?.reason?.code).to.equal('MANIFEST_INVALID');
      expect(row?.reason?.detail).to.include(detail);
    });
  }

  it('an endpoint with full authority cannot declare schemas', async () => {
    const name = 'service-extension-refused';
    const manifest = { type: 'endpoint', runtime: undefined, source: undefined, input: object({}) };
    await packages.put(name, manifest, 'export default () => {};');
    await reloadExtensions(service);
    expect((await listExtensions(service))[name]?.reason?.detail).to.include(
      'input needs "runtime": "confined-server"',
    );
  });
});
