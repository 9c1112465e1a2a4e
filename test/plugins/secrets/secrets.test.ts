import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import { parseMasterKey } from '../../../plugins/secrets/master-key.ts';
import { createSecretCipher } from '../../../plugins/secrets/secret-cipher.ts';
import { renderBootFailure } from '../../../scripts/render-boot-failure.ts';
import { captureError, withBootedTestPlugins } from '../../support/test-plugins.ts';

const keyText = (bytes = 32) => randomBytes(bytes).toString('base64');
const store = (text: string | undefined = keyText()) => createSecretCipher(parseMasterKey(text));

describe('SECRETS_ENCRYPTION_KEY', () => {
  it('may be unset or blank', () => {
    for (const text of [undefined, '', '  \n']) expect(store(text ?? '').available(), String(text)).to.equal(false);
    expect(parseMasterKey(undefined)).to.equal(undefined);
  });

  it('may have whitespace around it', () => {
    const text = keyText(48);
    expect(parseMasterKey(` ${text}\n`)?.id).to.equal(parseMasterKey(text)?.id);
  });

  for (const [what, text] of [
    ['a text that is no base64', 'correct horse battery staple, and some more'],
    ['another alphabet', Buffer.alloc(33, 255).toString('base64url')],
    ['missing padding', Buffer.alloc(32, 1).toString('base64').replace('=', '')],
    ['bits after the end', `${'A'.repeat(42)}B=`],
    ['too few bytes', keyText(31)],
    ['whitespace inside', `${keyText(33).slice(0, 20)} ${keyText(33).slice(20)}`],
  ] as const) {
    it(`stops the start for ${what}, without printing the value`, async () => {
      const failure = await captureError<BootFailure>(
        withBootedTestPlugins([], () => {}, { product: ['secrets'], environment: { SECRETS_ENCRYPTION_KEY: text } }),
      );
      expect(failure).to.include({ name: 'BootFailure', plugin: '@tenon/secrets', phase: 'config' });
      expect(renderBootFailure(failure)).to.include('SECRETS_ENCRYPTION_KEY').and.not.include(text);
      expect(failure.remedy).to.include('openssl rand');
    });
  }
});

describe('secrets.seal() and secrets.open()', () => {
  it('an envelope opens with the key and kind that sealed it', () => {
    const secrets = store();
    for (const text of ['hunter2', '', 'ünï 🔑', 'x'.repeat(100_000)])
      expect(secrets.open('a', secrets.seal('a', text)) === text, text.slice(0, 10)).to.equal(true);
  });

  it('envelopes of the same text differ and do not contain it', () => {
    const secrets = store();
    const [one, two] = [secrets.seal('a', 'hunter2'), secrets.seal('a', 'hunter2')] as [string, string];
    expect(one).not.to.equal(two);
    expect(one).not.to.include('hunter2').and.not.include(Buffer.from('hunter2').toString('base64'));
    const parts = JSON.parse(one);
    expect(Object.keys(parts)).to.deep.equal(['$sealed', 'kind', 'v', 'alg', 'kid', 'salt', 'iv', 'ct', 'tag']);
    expect(['salt', 'iv', 'tag'].map((name) => Buffer.from(parts[name], 'base64').length)).to.deep.equal([16, 12, 16]);
  });

  it('an envelope does not open with another kind, another key, or without a key', () => {
    const secrets = store();
    const sealed = secrets.seal('a', 'hunter2');
    expect(secrets.open('b', sealed)).to.equal(undefined);
    expect(store().open('a', sealed)).to.equal(undefined);
    expect(store('').open('a', sealed)).to.equal(undefined);
  });

  it('an envelope with any changed member does not open', () => {
    const secrets = store();
    const sealed = JSON.parse(secrets.seal('a', 'hunter2'));
    const other = JSON.parse(secrets.seal('a', 'hunter2'));
    for (const name of ['$sealed', 'v', 'alg', 'kid', 'salt', 'iv', 'ct', 'tag']) {
      const foreign = name in { salt: 1, iv: 1, tag: 1 } ? other[name] : name === 'ct' ? 'AAAA' : 2;
      for (const value of [foreign, undefined, 7, {}])
        expect(secrets.open('a', JSON.stringify({ ...sealed, [name]: value })), name).to.equal(undefined);
    }
    expect(secrets.open('b', JSON.stringify({ ...sealed, kind: 'b' })), 'kind').to.equal(undefined);
    const short = Buffer.from(sealed.tag, 'base64').subarray(0, 4).toString('base64');
    expect(secrets.open('a', JSON.stringify({ ...sealed, tag: short })), 'short tag').to.equal(undefined);
    for (const text of ['', 'null', '[]', '{', '7', '"x"']) expect(secrets.open('a', text), text).to.equal(undefined);
  });

  it('isSealed() recognises envelopes by their marker, also damaged ones', () => {
    const secrets = store('');
    const sealed = store().seal('a', 'hunter2');
    for (const value of [sealed, JSON.parse(sealed), `  ${sealed}`, sealed.slice(0, 30), '{"$sealed":9}'])
      expect(secrets.isSealed(value), JSON.stringify(value)).to.equal(true);
    for (const value of ['hunter2', '', null, undefined, 7, {}, [], '{"a":"$sealed"}', 'about "$sealed"'])
      expect(secrets.isSealed(value), JSON.stringify(value)).to.equal(false);
  });

  it('seal() without a key throws INVALID_CONFIG', async () => {
    expect(await captureError(() => store('').seal('a', 'x'))).to.include({ code: 'INVALID_CONFIG' });
  });
});
