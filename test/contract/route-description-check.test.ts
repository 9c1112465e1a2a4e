import { expect } from 'chai';
import type { DescribedRoute } from '../../plugins/http/contract.ts';
import {
  describeDataAnswer,
  describeJsonBody,
  exactObjectSchema,
  INTEGER_SCHEMA,
  TEXT_SCHEMA,
} from '../../plugins/http/library.ts';
import { findRouteDescriptionMismatch } from '../support/route-description-check.ts';
import { createRouteDescriptionValidator } from '../support/route-descriptions.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

const routes: readonly DescribedRoute[] = [
  {
    owner: 'notes',
    method: 'GET',
    path: '/notes/:id',
    description: {
      summary: 'Reads a note.',
      access: 'user',
      params: { id: { description: 'The key.', schema: INTEGER_SCHEMA } },
      answers: describeDataAnswer(exactObjectSchema({ id: INTEGER_SCHEMA })),
    },
  },
  {
    owner: 'notes',
    method: 'POST',
    path: '/notes',
    description: {
      summary: 'Creates a note.',
      access: 'public',
      body: describeJsonBody(exactObjectSchema({ title: TEXT_SCHEMA })),
      answers: { 204: {} },
    },
  },
];
const api = createRouteDescriptionValidator(routes);

const refusal = (code: string) => ({ errors: [{ message: 'no', extensions: { code } }] });

function exchange(
  method: string,
  path: string,
  status: number,
  body?: unknown,
  more: { sent?: unknown; type?: string } = {},
) {
  const headers = new Headers(body === undefined ? {} : { 'content-type': more.type ?? JSON_TYPE });
  return findRouteDescriptionMismatch(api, {
    method,
    path,
    options: { body: more.sent },
    reply: { status, body, headers },
  });
}

describe('findRouteDescriptionMismatch()', () => {
  it('accepts a declared answer, a declared error and a declared 304', () => {
    expect(exchange('GET', '/notes/1', 200, { data: { id: 1 } })).to.equal(undefined);
    expect(exchange('GET', '/notes/1?a=b', 304)).to.equal(undefined);
    expect(exchange('HEAD', '/notes/1', 200)).to.equal(undefined);
    expect(exchange('GET', '/notes/1', 403, refusal('FORBIDDEN'))).to.equal(undefined);
    expect(exchange('POST', '/notes', 204, undefined, { sent: { title: 'a' } })).to.equal(undefined);
  });

  it('ignores undescribed routes, and error codes of extensions', () => {
    expect(exchange('GET', '/elsewhere', 200, 'text', { type: 'text/plain' })).to.equal(undefined);
    expect(exchange('GET', '/notes/1', 418, refusal('TEAPOT'))).to.equal(undefined);
  });

  for (const [title, wrong, text] of [
    ['an undeclared status', exchange('GET', '/notes/1', 201, { data: {} }), '201 is no answer of the document'],
    [
      'a body against its schema',
      exchange('GET', '/notes/1', 200, { data: { id: 'a' } }),
      '200: body/data/id must be integer',
    ],
    [
      'an undeclared member',
      exchange('GET', '/notes/1', 200, { data: { id: 1 }, extra: 1 }),
      'must NOT have additional properties',
    ],
    [
      'an undeclared media type',
      exchange('GET', '/notes/1', 200, 'text', { type: 'text/plain' }),
      '200 has the type text/plain',
    ],
    ['an undeclared error code', exchange('POST', '/notes', 403, refusal('FORBIDDEN')), '403 has the code FORBIDDEN'],
    [
      'a code with another status than its own',
      exchange('GET', '/notes/1', 400, refusal('FORBIDDEN')),
      'FORBIDDEN comes with the status 400',
    ],
    ['a refusal without envelope', exchange('GET', '/notes/1', 400, { error: 'no' }), '400: body must have'],
    ['a body beside 204', exchange('POST', '/notes', 204, 'text', { sent: { title: 'a' } }), '204 has a body'],
    [
      'an accepted body against its schema',
      exchange('POST', '/notes', 204, undefined, { sent: { name: 'a' } }),
      'accepts a body that does not fit',
    ],
    ['an accepted request without its body', exchange('POST', '/notes', 204), 'accepts a request without a body'],
  ] as const) {
    it(`reports ${title}, with the route and its plugin`, () => {
      expect(wrong).to.match(/^(GET|POST) \/notes(\/:id)? of notes is not as its description says: /);
      expect(wrong).to.include(text);
    });
  }
});
