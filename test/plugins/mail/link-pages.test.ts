import { expect } from 'chai';
import { assertUrlIsAllowed, buildLink, createLinkPages } from '../../../plugins/mail/library.ts';
import { FOREIGN_URLS } from '../../support/foreign-urls.ts';
import { captureError } from '../../support/test-plugins.ts';

const LIST = [
  'https://good.example.com/reset',
  'http://localhost:3000/',
  'myapp://reset',
  'https://good.example.com/a?x=1',
];

const list = { setting: 'SOME_ALLOW_LIST', urls: LIST, field: 'reset_url' };

describe('pages of links in mails', () => {
  for (const url of [
    'https://good.example.com/reset',
    'https://good.example.com/reset?theme=dark',
    'https://good.example.com/reset#top',
    'https://GOOD.example.com:443/reset',
    'https://good.example.com/a',
    'http://localhost:3000',
    'http://localhost:3000/?a=b',
    'myapp://reset',
  ])
    it(`a list allows ${url}`, () => {
      expect(() => assertUrlIsAllowed(url, list)).not.to.throw();
    });

  for (const url of FOREIGN_URLS)
    it(`a list refuses ${JSON.stringify(url).slice(0, 80)} with INVALID_PAYLOAD`, async () => {
      const error = await captureError(async () => assertUrlIsAllowed(url, list));
      expect(error).to.deep.include({
        code: 'INVALID_PAYLOAD',
        extensions: { field: 'reset_url', path: ['reset_url'] },
      });
      expect(error.message).to.equal('"reset_url" is not on the list SOME_ALLOW_LIST.');
    });

  it('an empty list refuses every URL', async () => {
    const error = await captureError(async () => assertUrlIsAllowed(LIST[0] as string, { ...list, urls: [] }));
    expect(error).to.include({ code: 'INVALID_PAYLOAD' });
  });

  it('an entry that is no URL allows nothing', async () => {
    for (const entry of ['reset', 'null', '*', ''])
      expect(await captureError(async () => assertUrlIsAllowed(entry, { ...list, urls: [entry] })), entry).to.include({
        code: 'INVALID_PAYLOAD',
      });
  });

  it('a link keeps the parameters and the fragment of its page, and has one token', () => {
    expect(buildLink('https://a.example.com/x?token=old&b=1&token=2#c', 'new')).to.equal(
      'https://a.example.com/x?token=new&b=1#c',
    );
  });

  it('the default page is below PUBLIC_URL, and INVALID_CONFIG where that is not absolute', async () => {
    const pagesOf = (publicUrl: string) => createLinkPages({ publicUrl, path: '/admin/x', allowList: list });
    expect(pagesOf('https://a.example.com/api/').pageOf(undefined)).to.equal('https://a.example.com/api/admin/x');
    for (const publicUrl of ['/', '', '/api', 'a.example.com', 'file:///a']) {
      const pages = pagesOf(publicUrl);
      expect(pages.hasDefault).to.equal(false);
      expect(await captureError(async () => pages.pageOf(undefined)), publicUrl).to.include({ code: 'INVALID_CONFIG' });
      expect(pages.pageOf(LIST[0])).to.equal(LIST[0]);
    }
  });
});
