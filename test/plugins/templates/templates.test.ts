import { expect } from 'chai';
import type { GrantHolder } from '#kernel';
import type { InvocationSecretReferences } from '../../../plugins/broker/contract.ts';
import { BrokerRefusal, InvocationSecrets, renderAuthorities } from '../../../plugins/broker/library.ts';
import { createTemplateCapability, templateRemoteMethods } from '../../../plugins/templates/capability.ts';
import type { TemplateRenderOptions } from '../../../plugins/templates/contract.ts';
import { createTemplateService } from '../../../plugins/templates/service.ts';
import { buildTemplateWorkerPoolOptions } from '../../../plugins/templates/template-pool-options.ts';
import { watchEventLoop } from '../../support/event-loop.ts';
import { captureError } from '../../support/test-plugins.ts';
import { openWorkerPool } from '../../support/worker-pool.ts';

const subject = { name: 'x', version: '1.0.0', runtime: 'confined' } as GrantHolder;
const invocation = (secrets: InvocationSecretReferences = new InvocationSecrets()) => ({
  id: '1',
  caller: null,
  signal: new AbortController().signal,
  secrets,
});

describe('templates.render', () => {
  let pool: ReturnType<typeof openWorkerPool>;
  before(() => {
    pool = openWorkerPool(buildTemplateWorkerPoolOptions());
  });
  after(() => pool.stop());

  const render = (template: string, data?: Record<string, unknown>, options?: TemplateRenderOptions) =>
    createTemplateService(pool).render(template, data, options);
  const refused = async (template: string, data?: Record<string, unknown>) => {
    const failure = await captureError(render(template, data));
    expect(failure).to.include({ code: 'INVALID_PAYLOAD' });
    expect(failure.message).not.to.include('\n');
    return failure.message;
  };

  it('a template is rendered with its data', async () => {
    expect(await render('Dear {{ name | capitalize }}{% if more %}!{% endif %}', { name: 'ann', more: true })).to.equal(
      'Dear Ann!',
    );
    expect(await render('{% for i in list %}{{ i }};{% endfor %}{{ nothing }}', { list: [1, 2] })).to.equal('1;2;');
    expect(await render('plain')).to.equal('plain');
  });

  it('dates are rendered in UTC', async () => {
    expect(await render("{{ d | date: '%Y-%m-%d %H:%M' }}", { d: '2020-01-02T23:30:00Z' })).to.equal(
      '2020-01-02 23:30',
    );
  });

  it('delimiters may have 1 to 8 characters', async () => {
    const other = { tagLeft: '[[', tagRight: ']]', outputLeft: '<', outputRight: '>' };
    expect(await render('[[ if a ]]<a>[[ endif ]]{{ a }}', { a: 1 }, other)).to.equal('1{{ a }}');
    expect(await render('{{ a }}', { a: 1 })).to.equal('1');
    for (const outputLeft of ['', '123456789'])
      expect(await captureError(render('x', {}, { outputLeft }))).to.include({ code: 'INVALID_PAYLOAD' });
  });

  it('outputs are escaped for HTML where escapeHtml is set, except after the filter raw', async () => {
    const data = { a: '<b>"&\'', list: ['<'] };
    expect(
      await render('<p>{{ a }}{{ a | raw }}{% for one in list %}{{ one }}{% endfor %}', data, { escapeHtml: true }),
    ).to.equal('<p>&lt;b&gt;&#34;&amp;&#39;<b>"&\'&lt;');
    expect(await render('{{ a }}', data)).to.equal(data.a);
  });

  it('templates cannot include other templates or files', async () => {
    for (const text of [
      "{% include '/etc/passwd' %}",
      "{% render 'x' %}",
      "{% layout 'x' %}",
      '{% block a %}{% endblock %}',
    ])
      expect(await refused(text)).to.include('not found');
  });

  it('a template error is one line', async () => {
    expect(await refused('{% if %}')).to.match(/^The template cannot be rendered: /);
    expect(await refused('{{ a | nosuchfilter }}')).to.include('nosuchfilter');
    expect(await refused('{% if a %}')).to.include('not closed');
  });

  it('templates reach own members of the data only', async () => {
    const data = { o: {}, list: [1], text: 'x' };
    for (const path of [
      'o.constructor',
      'o.__proto__',
      'list.constructor.constructor',
      'text.constructor',
      'constructor',
    ])
      expect(await render(`[{{ ${path} }}]`, data), path).to.equal('[]');
    expect(
      await render('{{ o.__proto__.polluted }}{{ x }}', JSON.parse('{"o":{"__proto__":{"polluted":1}},"x":2}')),
    ).to.equal('12');
  });

  it('a template, data or result over its size limit is INVALID_PAYLOAD', async () => {
    expect(await refused('x'.repeat(1024 * 1024 + 1))).to.include('longer');
    expect(await refused('{{ x }}{{ x }}', { x: 'x'.repeat(600_000) })).to.include('longer');
    expect(await refused('{{ x }}', { x: 'ü'.repeat(600_000) })).to.include('longer');
    expect(await refused('x', { x: 'x'.repeat(5 * 1024 * 1024) })).to.include('data is longer');
    expect(await refused('{% for i in (1..1000000000) %}{% endfor %}')).to.include('memory');
  });

  it('a slow template ends at its time limit without blocking the service', async () => {
    const list = Array(20_000).fill(1);
    const hostile: readonly [string, Record<string, unknown>?][] = [
      ['{% for a in (1..10000) %}{% for b in (1..10000) %}{% endfor %}{% endfor %}'],
      [`{{ a | has_exp: 'x', 'a | has_exp: "y", "false"' }}`, { a: list }],
      ['{{a}}'.repeat(200_000)],
    ];
    const loop = watchEventLoop();
    try {
      await Promise.all(hostile.map(([text, data]) => refused(text, data)));
    } finally {
      loop.stop();
    }
    expect(loop.longest()).to.be.below(400);
    expect(await render('{{ a }}', { a: 'still here' })).to.equal('still here');
  });

  it('a template ends at the memory limit, whatever it allocates', async () => {
    const grow = (times: number) =>
      `{% assign b = a %}{% for i in (1..${times}) %}{% assign b = b | concat: b %}{% endfor %}`;
    await refused(`${grow(9)}{{ b }}`, { a: ['x'.repeat(1024 * 1024)] });
    await refused(`${grow(7)}{{ b | json: 10 }}`, { a: [JSON.parse('['.repeat(900) + ']'.repeat(900))] });
    expect(await render('{{ a }}', { a: 'still here' })).to.equal('still here');
  });

  it('templates above the number of processes wait in a queue', async () => {
    const results = await Promise.all(Array.from({ length: 30 }, (_, n) => render('{{ n }}', { n })));
    expect(results).to.deep.equal(Array.from({ length: 30 }, (_, n) => String(n)));
  });

  it('render() is refused after the service has stopped', async () => {
    const own = openWorkerPool(buildTemplateWorkerPoolOptions());
    const ownTemplates = createTemplateService(own);
    const running = captureError(ownTemplates.render('x'));
    const stopped = own.stop();
    expect(await running).to.include({ code: 'SERVICE_UNAVAILABLE' });
    expect(await captureError(ownTemplates.render('x'))).to.include({ code: 'SERVICE_UNAVAILABLE' });
    await stopped;
  });

  describe('host.template.renderLiquid', () => {
    const capability = () => createTemplateCapability(createTemplateService(pool));
    const call = async (grant: boolean, args: unknown[], secrets?: InvocationSecretReferences) => {
      const { renderLiquid } = templateRemoteMethods.methods;
      return renderLiquid?.call(capability().bind(grant, subject), invocation(secrets), ...args);
    };

    it('a package with the grant renders a template', async () => {
      expect(await call(true, ['{{ a }}', { a: 1 }])).to.equal('1');
      expect(await call(true, ['<< a >>', { a: 1 }, { delimiters: { outputLeft: '<<', outputRight: '>>' } }])).to.equal(
        '1',
      );
      expect(await call(true, ['a', null, null])).to.equal('a');
    });

    it('the grant false denies the call', async () => {
      const refusal = await captureError<BrokerRefusal>(call(false, ['a']));
      expect([refusal instanceof BrokerRefusal, refusal.code]).to.deep.equal([true, 'denied']);
      const sentences = [true, false].map((grant) => renderAuthorities(capability().describe(grant)));
      expect(sentences).to.deep.equal([['renders templates'], []]);
      const { widens } = capability();
      expect([
        widens(undefined, true),
        widens(false, true),
        widens(true, true),
        widens(undefined, false),
      ]).to.deep.equal([true, true, false, false]);
    });

    it('a ninth template of one package at a time is rate_limited while other packages render', async () => {
      const open: (() => void)[] = [];
      const slow = { render: () => new Promise<string>((resolve) => open.push(() => resolve('done'))) };
      const { bind } = createTemplateCapability(slow);
      const [one, same, other] = [subject, { ...subject }, { ...subject, name: 'another' }].map((who) =>
        bind(true, who),
      );
      const all = Array.from({ length: 9 }, (_, at) => (at % 2 === 0 ? one : same)?.renderLiquid('a'));
      expect(await captureError<BrokerRefusal>(all.pop() as Promise<string>)).to.include({ code: 'rate_limited' });
      const theirs = other?.renderLiquid('a');
      for (const finish of open) finish();
      expect(new Set([...(await Promise.all(all)), await theirs])).to.deep.equal(new Set(['done']));
      const again = one?.renderLiquid('a');
      open.at(-1)?.();
      expect(await again).to.equal('done');
    });

    it('a template with a secret reference is denied', async () => {
      const secrets = new InvocationSecrets();
      const { ref } = secrets.conceal('hunter2');
      for (const args of [[`a ${ref}`], ['a', { deep: [{ ref }] }]])
        expect(await captureError<BrokerRefusal>(call(true, args, secrets))).to.include({ code: 'denied' });
    });
  });
});
