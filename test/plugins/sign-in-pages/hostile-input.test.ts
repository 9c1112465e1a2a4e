import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { PageClient, type PageReply } from './page-client.ts';

const LOGIN = '/admin/login';
const SCRIPT = '"><script>alert(1)</script><img src=x onerror=alert(1)>\'';

/** Elements and attributes that only hostile text could put into a page. */
function expectHarmless({ text }: PageReply, about: string): void {
  const withoutOwnScript = text.replaceAll(/<script type="module" src="[\w./-]+\.js"><\/script>/g, '');
  expect(withoutOwnScript, about).to.not.match(/<script|<style|<iframe|<object|<base|<link rel="(?!icon|stylesheet)/i);
  const withoutValues = withoutOwnScript.replaceAll(/="[^"]*"/g, '=""');
  expect(withoutValues, about).to.not.match(/<[^>]*\s(?:on\w+|style|srcdoc)\s*=/i);
  expect(withoutOwnScript, about).to.not.match(/(?:href|src|action)="\s*(?:javascript|data|vbscript):/i);
}

describe('sign-in pages and hostile input', function () {
  this.timeout(120_000);
  let service: InProcessService;
  before(async () => {
    service = await startService();
  });
  after(() => service?.stop());

  const setSettings = async (body: Record<string, unknown>) => {
    const reply = await service.request('PATCH', '/settings', { token: service.admin.token, body });
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
  };

  describe('in settings', () => {
    const initial = {
      project_name: 'Tenon',
      project_descriptor: null,
      project_color: null,
      public_note: null,
      custom_css: null,
      default_appearance: 'auto',
    };
    afterEach(() => setSettings(initial));

    const cases: readonly (readonly [setting: string, value: string])[] = [
      ['project_name', SCRIPT],
      ['project_name', '</title><script>alert(1)</script>'],
      ['project_descriptor', SCRIPT],
      ['default_appearance', 'dark" onload="alert(1)'],
      ['project_color', 'red;} body{background:url(//evil.example)'],
      ['project_color', '</style><script>alert(1)</script>'],
      ['public_note', SCRIPT],
      ['public_note', '[x](javascript:alert(1))'],
      ['public_note', '[x](JaVaScRiPt:alert(1)) <javascript:alert(1)>'],
      ['public_note', '[x](data:text/html,<script>alert(1)</script>)'],
      ['public_note', '[x](https://a.example/"onmouseover="alert(1))'],
      ['public_note', '![x](https://evil.example/pixel.png)'],
      ['public_note', '<style>body{display:none}</style><base href=//evil.example>'],
      ['public_note', '[x](//evil.example)'],
      ['custom_css', '</style><script>alert(1)</script>'],
      ['custom_css', '</STYLE ><img src=x onerror=alert(1)>'],
      ['custom_css', '} <!-- </link> */ --> <script>alert(1)</script>'],
    ];
    for (const [setting, value] of cases)
      it(`${setting} ${JSON.stringify(value)} puts no element into a page`, async () => {
        await setSettings({ [setting]: value });
        const client = new PageClient(service.url);
        for (const path of [LOGIN, '/admin/reset-password', '/admin/accept-invite'])
          expectHarmless(await client.get(path), path);
        const { text } = await client.get(LOGIN);
        expect(text).to.not.match(/src="[^"]*evil\.example|href="\/\/evil/);
        const sheet = /admin\/sign-in\/theme-[\w-]+\.css/.exec(text)?.[0] as string;
        const css = await client.get(`/${sheet}`);
        expect(css.headers.get('content-type')).to.equal('text/css; charset=utf-8');
        expect(css.headers.get('x-content-type-options')).to.equal('nosniff');
        if (setting === 'project_color') expect(css.text).to.not.include('evil').and.not.include('script');
      });

    for (const [color, appearance] of [
      ['#ffffff', 'light'],
      ['#ffff00', 'light'],
      ['#000', 'dark'],
      ['rgb(20, 20, 40)', 'dark'],
    ] as const)
      it(`project_color ${color} is made legible`, async () => {
        await setSettings({ project_color: color, default_appearance: appearance });
        const client = new PageClient(service.url);
        const { text } = await client.get(LOGIN);
        expect(text).to.include(`data-appearance="${appearance}"`);
        const css = await client.get(`/${/admin\/sign-in\/theme-[\w-]+\.css/.exec(text)?.[0]}`);
        const value = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(css.text)?.[1] as string;
        const surface = { light: '#ffffff', dark: '#15171c' };
        for (const scheme of ['light', 'dark'] as const) {
          expect(contrast(value(`accent-${scheme}`), surface[scheme])).to.be.at.least(4.5);
          expect(contrast(value(`on-accent-${scheme}`), value(`accent-${scheme}`))).to.be.at.least(4.5);
        }
      });
  });

  describe('in ?redirect=', () => {
    const targets = [
      'https://evil.example',
      '//evil.example',
      '///evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '/\t/evil.example',
      '/\n/evil.example',
      '\t//evil.example',
      ' //evil.example',
      '/.//evil.example',
      '/..//evil.example',
      '/x/..//evil.example',
      '/./\\evil.example',
      '/%2e//evil.example',
      'http:evil.example',
      'javascript:alert(1)',
      'data:text/html,x',
      '@evil.example',
      'evil.example',
      '',
      '//evil.example@127.0.0.1',
      `/${'a'.repeat(3000)}`,
    ];
    for (const target of targets)
      it(`${JSON.stringify(target.slice(0, 40))} leads to the start page`, async () => {
        const client = new PageClient(service.url);
        const path = `${LOGIN}?redirect=${encodeURIComponent(target)}`;
        const page = await client.get(path);
        expectHarmless(page, target);
        expect(page.text).to.not.include('evil.example');
        const { email, password } = service.admin;
        const reply = await client.submit(page, path, { email, password });
        expect([reply.status, reply.location]).to.deep.equal([303, './../admin']);
        // Signed in, the page redirects at once.
        expect((await client.get(path)).location).to.equal('./../admin');
      });

    it('keeps a path of this host, and takes no repeated parameter', async () => {
      const { email, password } = service.admin;
      const client = new PageClient(service.url);
      const path = `${LOGIN}?redirect=${encodeURIComponent('/admin/x?y=//z#//w')}`;
      const reply = await client.submit(await client.get(path), path, { email, password });
      expect(reply.location).to.equal('/admin/x?y=//z#//w');
      expect((await client.get(`${LOGIN}?redirect=/a&redirect=//evil.example`)).location).to.equal('./../admin');
    });
  });

  describe('in addresses and fields', () => {
    const sent = encodeURIComponent(SCRIPT);
    for (const path of [
      `${LOGIN}?reason=${sent}`,
      `${LOGIN}?notice=${sent}`,
      `${LOGIN}?redirect=/${sent}`,
      `${LOGIN}?${sent}=1`,
      `/admin/reset-password?token=${sent}`,
      `/admin/accept-invite?token=${sent}`,
      `/admin/verify-email?token=${sent}`,
      `/admin/share/${sent}`,
      `/admin?reason=${sent}`,
    ])
      it(`${decodeURIComponent(path).slice(0, 40)}… is text`, async () => {
        expectHarmless(await new PageClient(service.url).get(path), path);
      });

    for (const fields of [
      { email: SCRIPT, password: SCRIPT },
      { email: SCRIPT, password: 'x', otp: SCRIPT },
      { sealed: SCRIPT, otp: SCRIPT },
      { provider: SCRIPT, email: 'x' },
      { provider: '../../users', email: 'x' },
      { provider: '__proto__', email: 'x' },
      { email: ['x'].join(), password: 'x', mode: 'json', role: 'admin' },
    ] as readonly Record<string, string>[])
      it(`the form ${JSON.stringify(fields).slice(0, 60)} is refused with a page`, async () => {
        const client = new PageClient(service.url);
        const reply = await client.submit(await client.get(LOGIN), LOGIN, fields);
        expect([401, 403, 404]).to.include(reply.status);
        expect(reply.headers.get('content-type')).to.equal('text/html; charset=utf-8');
        expectHarmless(reply, JSON.stringify(fields));
      });
  });

  describe('as forms of other sites', () => {
    const credentials = () => ({ email: service.admin.email, password: service.admin.password });
    async function formToken(client: PageClient): Promise<string> {
      await client.get(LOGIN);
      return client.cookies.get('service_form_token') as string;
    }

    for (const [title, headers] of [
      ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }],
      ['Sec-Fetch-Site: same-site', { 'sec-fetch-site': 'same-site' }],
      ['a foreign Origin', { origin: 'https://evil.example' }],
      ['an Origin of another port', { origin: 'http://127.0.0.1:1' }],
      ['an Origin that is no URL', { origin: 'x' }],
    ] as const)
      for (const path of [
        LOGIN,
        '/admin/logout',
        '/admin/reset-password',
        '/admin/accept-invite',
        '/admin/verify-email',
      ])
        it(`POST ${path} with ${title} is refused with 403, also with the right token`, async () => {
          const client = new PageClient(service.url);
          const fields = { ...credentials(), form_token: await formToken(client) };
          const reply = await client.post(path, fields, { headers });
          expect([reply.status, client.cookies.has('service_refresh_token')]).to.deep.equal([403, false]);
        });

    for (const [title, change] of [
      ['no token', () => ({})],
      ['an empty token', () => ({ form_token: '' })],
      ['another token', () => ({ form_token: 'a'.repeat(43) })],
    ] as const)
      it(`a form with ${title} is refused with 403`, async () => {
        const client = new PageClient(service.url);
        await formToken(client);
        expect((await client.post(LOGIN, { ...credentials(), ...change() })).status).to.equal(403);
      });

    it('a form without the cookie is refused with 403, as browsers send it for another site', async () => {
      const client = new PageClient(service.url);
      const form_token = await formToken(client);
      client.cookies.clear();
      expect((await client.post(LOGIN, { ...credentials(), form_token })).status).to.equal(403);
    });

    it('sets a form cookie that scripts cannot read and browsers send for this site only', async () => {
      const reply = await new PageClient(service.url).get(LOGIN);
      expect(reply.headers.getSetCookie()[0]).to.match(
        /^service_form_token=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
      );
    });
  });

  describe('as bodies', () => {
    async function refused(body: string, type = 'application/x-www-form-urlencoded') {
      const client = new PageClient(service.url);
      await client.get(LOGIN);
      const cookie = `service_form_token=${client.cookies.get('service_form_token')}`;
      const response = await fetch(service.url + LOGIN, {
        method: 'POST',
        headers: { cookie, ...(type ? { 'content-type': type } : {}) },
        body: body.replace('TOKEN', client.cookies.get('service_form_token') as string),
      });
      return [response.status, response.headers.get('content-type'), (await response.text()).includes('<h1>')];
    }
    const page = (status: number) => [status, 'text/html; charset=utf-8', true];

    for (const [title, body, status, type] of [
      ['JSON', '{"email":"x"}', 415, 'application/json'],
      ['plain text', 'form_token=TOKEN', 415, 'text/plain'],
      ['multipart', '--x--', 415, 'multipart/form-data; boundary=x'],
      ['101 fields', Array.from({ length: 101 }, (_, at) => `f${at}=1`).join('&'), 400, undefined],
      ['a NUL character', 'form_token=TOKEN&email=%00&password=x', 400, undefined],
      ['two megabytes', `form_token=TOKEN&email=${'x'.repeat(2_000_000)}`, 413, undefined],
      ['broken escapes', 'form_token=TOKEN&email=%E0%A4%A&password=%', 401, undefined],
      ['names of prototypes', 'form_token=TOKEN&__proto__=x&constructor=y&email=a&password=b', 401, undefined],
      ['repeated fields', 'form_token=x&form_token=TOKEN&email[]=a&email=a&email=b&password=x', 401, undefined],
    ] as const)
      it(`${title}: ${status} as a page`, async () => {
        expect(await refused(body, type)).to.deep.equal(page(status));
      });
  });

  describe('as frames, hosts and files', () => {
    for (const path of ['/admin', LOGIN, '/admin/reset-password?token=x', '/admin/share/x', '/admin/logout'])
      it(`${path} may not be framed, cached or referred to, and runs no inline code`, async () => {
        const { headers } = await new PageClient(service.url).get(path);
        expect(headers.get('cache-control')).to.equal('no-store');
        expect(headers.get('referrer-policy')).to.equal('no-referrer');
        expect(headers.get('x-frame-options')).to.equal('DENY');
        expect(headers.get('content-security-policy')).to.match(/^default-src 'none'/);
        expect(headers.get('content-security-policy')).to.include("frame-ancestors 'none'").and.not.include('unsafe');
      });

    for (const headers of [
      { 'x-forwarded-host': 'evil.example' },
      { 'x-forwarded-proto': 'gopher', forwarded: 'host=evil.example' },
      { 'x-original-url': '/evil.example', 'x-forwarded-prefix': '/evil.example' },
    ] as readonly Record<string, string>[])
      it(`${Object.keys(headers).join(' and ')} changes no address of a page`, async () => {
        const client = new PageClient(service.url);
        expect((await client.get('/admin/reset-password?token=x', { headers })).text).to.not.include('evil.example');
        expect((await client.get('/admin', { headers })).location).to.equal('./admin/login');
      });

    for (const file of [
      '..%2Fpackage.json',
      '%2e%2e%2findex.ts',
      'pages.css',
      'theme-.css',
      'theme-x.css.map',
      'constructor',
    ])
      it(`/admin/sign-in/${file} is 404`, async () => {
        expect((await new PageClient(service.url).get(`/admin/sign-in/${file}`)).status).to.equal(404);
      });

    it('a page is not given to scripts of other origins, whatever CORS allows', async () => {
      const open = await startService({ env: { CORS_ENABLED: 'true', CORS_ORIGIN: 'true' } });
      try {
        const { headers } = await new PageClient(open.url).get(LOGIN, { headers: { origin: 'https://evil.example' } });
        expect(headers.get('access-control-allow-origin')).to.equal(null);
        expect(headers.get('access-control-allow-credentials')).to.equal(null);
      } finally {
        await open.stop();
      }
    });

    it('a page of another site learns nothing of the session', async () => {
      const client = new PageClient(service.url);
      const { email, password } = service.admin;
      await client.submit(await client.get(LOGIN), LOGIN, { email, password });
      const cookie = `service_refresh_token=${client.cookies.get('service_refresh_token')}`;
      const statusFor = (site: string, mode: string, dest: string) =>
        statusOf(`${service.url}/admin`, {
          cookie,
          'sec-fetch-site': site,
          'sec-fetch-mode': mode,
          'sec-fetch-dest': dest,
        });
      expect(await statusFor('cross-site', 'cors', 'empty')).to.equal(303);
      expect(await statusFor('same-site', 'no-cors', 'script')).to.equal(303);
      expect(await statusFor('cross-site', 'navigate', 'iframe')).to.equal(303);
      // A person follows a link.
      expect(await statusFor('cross-site', 'navigate', 'document')).to.equal(200);
      expect(await statusFor('same-origin', 'cors', 'empty')).to.equal(200);
    });
  });
});

/** The status of a GET. `fetch` sets headers of its own in place of these. */
async function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const request = get(url, { headers });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

/** The contrast of two colors (WCAG 2.2). */
function contrast(one: string, other: string): number {
  const luminance = (color: string): number => {
    const [red, green, blue] = (color.match(/[0-9a-f]{2}/g) as string[]).map((part) => {
      const share = Number.parseInt(part, 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
}
