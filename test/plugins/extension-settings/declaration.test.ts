import { expect } from 'chai';
import { parseSettingsDeclaration } from '../../../plugins/extension-settings/declaration.ts';

const problemsOf = (raw: unknown) => parseSettingsDeclaration(raw).problems;

describe('parseDeclaration', () => {
  it('missing members get their defaults', () => {
    const presentation = { order: -1, width: 'half', interface: 'system-display-template' };
    const { problems, declaration } = parseSettingsDeclaration({
      room: { type: 'string' },
      api_token: { type: 'string', secret: {} },
      password: { type: 'string', secret: { source: 'config' }, scope: 'global', appReadable: false },
      template: { type: 'string', scope: 'collection', appReadable: true, presentation },
      limit: { type: 'number', presentation: {} },
      is_on: { type: 'boolean' },
    });
    expect(problems).to.deep.equal([]);
    expect(declaration).to.deep.equal({
      room: { type: 'string', scope: 'global', appReadable: false },
      api_token: { type: 'string', scope: 'global', secret: { source: 'inline' }, appReadable: false },
      password: { type: 'string', scope: 'global', secret: { source: 'config' }, appReadable: false },
      template: { type: 'string', scope: 'collection', appReadable: true, presentation },
      limit: { type: 'number', scope: 'global', appReadable: false, presentation: {} },
      is_on: { type: 'boolean', scope: 'global', appReadable: false },
    });
    expect(Object.keys(declaration)).to.deep.equal(['room', 'api_token', 'password', 'template', 'limit', 'is_on']);
  });

  it('absent settings are valid, and an empty map is not', () => {
    expect(parseSettingsDeclaration(undefined)).to.deep.equal({ problems: [], declaration: {} });
    for (const raw of [{}, null, [], 'x', 5]) expect(problemsOf(raw), JSON.stringify(raw)).not.to.deep.equal([]);
  });

  it('keys that do not match the pattern are problems', () => {
    for (const key of ['a', 'a1_', 'a'.repeat(64)]) expect(problemsOf({ [key]: { type: 'string' } })).to.deep.equal([]);
    const wrong = ['', 'A', '1a', '_a', 'a-b', 'a.b', 'ä', 'a ', 'a'.repeat(65), 'constructor', 'prototype', 'a\n'];
    for (const key of wrong) expect(problemsOf({ [key]: { type: 'string' } }), key).to.have.length(1);
    expect(problemsOf(JSON.parse('{"__proto__":{"type":"string"}}'))).to.have.length(1);
  });

  it('unknown members are problems', () => {
    for (const one of [
      null,
      'string',
      {},
      { type: 'json' },
      { type: 'string', scope: 'user' },
      { type: 'string', default: 'x' },
      { type: 'string', secret: true },
      { type: 'string', secret: { source: 'vault' } },
      { type: 'string', secret: { source: 'inline', key: 'x' } },
      { type: 'string', appReadable: 'yes' },
      { type: 'string', presentation: { order: 1.5 } },
      { type: 'string', presentation: { width: 'third' } },
      { type: 'string', presentation: { label: 'x' } },
      { type: 'string', scope: 'collection', presentation: { interface: 'input' } },
    ]) {
      const { problems, declaration } = parseSettingsDeclaration({ fine: { type: 'string' }, key: one });
      expect(problems[0], JSON.stringify(one)).to.match(/^\/settings\/key/);
      expect(declaration).to.deep.equal({});
    }
  });

  it('contradictory members are problems', () => {
    for (const one of [
      { type: 'number', secret: {} },
      { type: 'string', secret: {}, appReadable: true },
      { type: 'string', secret: { source: 'config' }, scope: 'collection' },
      { type: 'string', presentation: { interface: 'system-display-template' } },
      { type: 'number', scope: 'collection', presentation: { interface: 'system-display-template' } },
      { type: 'string', scope: 'collection', secret: {}, presentation: { interface: 'system-display-template' } },
    ]) {
      expect(problemsOf({ key: one }), JSON.stringify(one)).to.have.length(1);
    }
    expect(problemsOf({ key: { type: 'string', scope: 'collection', secret: {} } })).to.deep.equal([]);
  });
});
