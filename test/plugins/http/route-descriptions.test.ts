import { expect } from 'chai';
import type { Route, RouteDescription } from '../../../plugins/http/contract.ts';
import {
  describeJsonBody,
  errorCodesOf,
  exactObjectSchema,
  hasBodyMatchingRouteSchema,
  listSchema,
  pathParameterNames,
  schemaRef,
  TEXT_SCHEMA,
} from '../../../plugins/http/library.ts';
import { captureError } from '../../support/test-plugins.ts';

const described = (more: Partial<RouteDescription>): RouteDescription => ({
  summary: 'Answers.',
  access: 'public',
  answers: { 204: {} },
  ...more,
});

describe('errorCodesOf', () => {
  const codes = (method: Route['method'], more: Partial<RouteDescription> = {}) =>
    errorCodesOf({ method, description: described(more) });

  it('answers the codes of all routes, and those of the route', () => {
    expect([...codes('GET', { errors: ['OUT_OF_TIME'] })]).to.include.members(['TOKEN_EXPIRED', 'OUT_OF_TIME']);
  });

  it('answers FORBIDDEN for every access but public', () => {
    expect(codes('GET').has('FORBIDDEN')).to.equal(false);
    for (const access of ['user', 'app', 'admin', 'permissions'] as const)
      expect(codes('GET', { access }).has('FORBIDDEN'), access).to.equal(true);
  });

  it('answers the codes of bodies for every method that may have one', () => {
    expect(codes('GET').has('CONTENT_TOO_LARGE')).to.equal(false);
    for (const method of ['POST', 'PATCH', 'DELETE', 'SEARCH', '*'] as const)
      expect(codes(method).has('CONTENT_TOO_LARGE'), method).to.equal(true);
  });
});

describe('pathParameterNames', () => {
  it('answers the parameters of a path in their order', () => {
    expect(pathParameterNames('/fields/:collection/:field')).to.deep.equal(['collection', 'field']);
    expect(pathParameterNames('/fields')).to.deep.equal([]);
  });
});

describe('hasBodyMatchingRouteSchema', () => {
  const note = described({
    body: describeJsonBody(exactObjectSchema({ title: TEXT_SCHEMA, tags: listSchema(schemaRef('Tag')) })),
    components: { schemas: { Tag: { type: 'string', minLength: 1 } } },
  });

  it('accepts bodies that match the schema, references included', async () => {
    expect(await hasBodyMatchingRouteSchema(note, { title: 'a', tags: ['b'] })).to.equal(true);
    for (const body of [{ title: 'a', tags: [''] }, { title: 1, tags: [] }, { title: 'a' }, [], null])
      expect(await hasBodyMatchingRouteSchema(note, body), JSON.stringify(body)).to.equal(false);
  });

  it('accepts a missing body only if the description does not require one', async () => {
    expect(await hasBodyMatchingRouteSchema(note, undefined)).to.equal(false);
    expect(
      await hasBodyMatchingRouteSchema(
        described({ body: describeJsonBody(TEXT_SCHEMA, { required: false }) }),
        undefined,
      ),
    ).to.equal(true);
  });

  it('throws for a description without a schema for JSON', async () => {
    const { message } = await captureError(hasBodyMatchingRouteSchema(described({}), {}));
    expect(message).to.include('no schema for a JSON body');
  });
});
