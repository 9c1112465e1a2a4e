import { expect } from 'chai';
import { killStartedRunnerProcesses, UnconfinedRunnerProcess } from './runner-process.ts';

/**
 * Guest code that replaces built-ins by functions which record and throw. Host calls, timers and results must still work,
 * and the replacements must never run for the code of the runner.
 */
const TAMPER = `
  const seen = [];
  const G = globalThis, own = Reflect.ownKeys, get = Object.getOwnPropertyDescriptor, def = Object.defineProperty;
  const str = JSON.stringify, push = (what) => { def(seen, seen.length, { value: what, configurable: true, writable: true,
    enumerable: true }); };
  const poison = (object, key, path) => {
    const found = get(object, key);
    if (!found || !found.configurable || typeof found.value !== 'function') return;
    def(object, key, { configurable: true, writable: true, value() { push(path); throw new Error(path); } });
  };
`;

const GLOBALS = `
  AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date
  Error EvalError Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array
  Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String
  Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap
  WeakRef WeakSet clearInterval clearTimeout console decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval
  globalThis isFinite isNaN parseFloat parseInt setInterval setTimeout undefined unescape`.trim();

describe('runner: a realm that tampers with itself', () => {
  after(killStartedRunnerProcesses);

  const run = async (before: string, handler: string, reuse = false): Promise<unknown> => {
    const runner = await UnconfinedRunnerProcess.load(
      `${before}; module.exports = { handler: async function (input, context) {
      const { host } = context; ${handler} } };`,
      { reuse },
    );
    runner.invoke(1, { name: 'input' });
    let result: unknown;
    let over = false;
    const end = runner.outcome(1).then((outcome) => {
      over = true;
      result = outcome;
    });
    // Replies to every host call until the invocation ends.
    const answering = (async () => {
      while (!over) {
        const call = await Promise.race([runner.next('call'), end]);
        if (call?.call) runner.reply(1, call.call, { arguments: JSON.parse(call.body) });
      }
    })();
    await end;
    runner.process.kill('SIGKILL');
    await answering.catch(() => {});
    return result;
  };

  it('the realm has the globals of the language and nothing else', async () => {
    const names = await run('', 'return Reflect.ownKeys(globalThis).map(String);');
    const known = new Set(GLOBALS.split(/\s+/));
    expect((names as string[]).filter((name) => !known.has(name))).to.eql([]);
    const missing = [...known].filter((name) => !(names as string[]).includes(name));
    // Some globals exist in some versions of the engine only.
    expect(missing.filter((name) => !/^(Float16Array|SuppressedError|(Async)?DisposableStack)$/.test(name))).to.eql([]);
  });

  it('host calls and results work with every built-in function poisoned', async () => {
    // The guest code loops by index, since it replaces the iterators too.
    const poisonAll = `${TAMPER}
      const each = (list, visit) => { for (let n = 0; n < list.length; n++) visit(list[n]); };
      each(own(G), (name) => {
        const value = get(G, name)?.value;
        if (value === null || (typeof value !== 'object' && typeof value !== 'function') || name === 'globalThis') return;
        each(own(value), (key) => { if (typeof key === 'string' && key !== 'prototype') poison(value, key, name + '.' + key); });
        const proto = typeof value === 'function' ? value.prototype : undefined;
        if (proto) each(own(proto), (key) => {
          if (key !== 'constructor') poison(proto, key, name + '#' + (typeof key === 'string' ? key : 'symbol'));
        });
      });
      each(own(G), (name) => { if (name !== 'globalThis') poison(G, name, name); });`;
    const handler = `
      const answer = await host.items.readMany('posts', { a: 1 });
      await host.log.info('x');
      return { answer, input, seen };`;
    expect(await run(poisonAll, handler)).to.eql({
      answer: { ok: true, value: { arguments: ['posts', { a: 1 }] } },
      input: { name: 'input' },
      seen: [],
    });
  });

  it('setters and getters on the prototypes receive no value of the host', async () => {
    const names = [
      ...['text', 'next', 'id', 'type', 'over', 'calls', 'inFlight', 'waiting', 'callback', 'args', 'repeat', 'owner'],
      ...['entry', 'context', 'host', 'ok', 'value', 'error', 'code', 'message', 'exports', 'default', 'get', 'set'],
      ...[
        'handler',
        'filters',
        'actions',
        'endpoints',
        'hooks',
        'operations',
        'configurable',
        'enumerable',
        'writable',
      ],
      ...['extensionId', 'contributionId', 'activation', 'accountability', 'event', '0', '1', '2', '3', 'length'],
    ];
    const before = `${TAMPER} const names = ${JSON.stringify(names)};
      const arm = () => { for (const name of names) for (const proto of [Object.prototype, Array.prototype, Function.prototype]) {
        const found = get(proto, name);
        if (found && !found.configurable) continue;
        if (name === 'length' && proto !== Object.prototype) continue;
        def(proto, name, { __proto__: null, configurable: true, get() { push('get ' + name); }, set() { push('set ' + name); } });
      } };`;
    const handler = `
      arm();
      const first = await host.items.readMany('posts', { x: 1 });
      const second = await new Promise((resolve) => setTimeout((value) => resolve(value), 1, 'timer'));
      try { await host.settings.get(1n); } catch (error) { push('threw'); }
      const all = str(seen);
      return { __proto__: null, first: str(first), second, all };`;
    expect(await run(before, handler)).to.eql({
      first: '{"ok":true,"value":{"arguments":["posts",{"x":1}]}}',
      second: 'timer',
      all: '[]',
    });
  });

  it('toJSON affects objects of the guest but none of the host', async () => {
    const before = `${TAMPER} let whole = 0;
      Object.prototype.toJSON = function () { push(Array.isArray(this) ? 'list' : Object.keys(this).join()); return 'mine'; };
      Array.prototype.toJSON = Object.prototype.toJSON; String.prototype.toJSON = function () { push('text'); return 1; };`;
    const answer = await run(
      before,
      `const { value } = await host.items.readMany('posts', { a: 1 });
      delete Object.prototype.toJSON; delete Array.prototype.toJSON; return [value, seen];`,
    );
    expect(answer).to.eql([{ arguments: ['posts', 'mine'] }, ['a']]);
  });

  it('stack traces, callers and species expose no function or receiver of the host', async () => {
    const before = `const found = [];
      const isOurs = (value) => value !== undefined && value !== null && value !== globalThis && !/sloppy/.test(value);
      const note = (kind, value) => { if (isOurs(value)) found.push(kind + ' ' + value); };
      const look = () => {
        const before = Error.prepareStackTrace;
        Error.prepareStackTrace = (error, sites) => sites;
        const sites = new Error().stack;
        Error.prepareStackTrace = before;
        for (const site of sites) {
          const name = site.getFunctionName();
          if (['enter', 'invoke', 'handle', 'call', 'textOf', 'reply', 'fire', 'evaluate', 'start'].includes(name)) {
            note('function ' + name, site.getFunction()); note('this ' + name, site.getThis()); frames++;
          }
        }
      };
      let frames = 0;
      function sloppy() { look(); note('caller', sloppy.caller); try { note('callee', arguments.callee.caller); } catch {} }
      let done;
      function ticked() { sloppy(); note('caller', ticked.caller); done(); }
      function answer() { sloppy(); note('caller', answer.caller); return { found, some: frames > 0 }; }
      look();
      class Sub extends Promise { static get [Symbol.species]() { look(); return Promise; } }`;
    const handler = `
      await host.log.info({ toJSON: sloppy });
      await host.settings.get({ toJSON() { sloppy(); return 1; } });
      await new Promise((resolve) => setTimeout(() => { sloppy(); resolve(); }, { valueOf() { sloppy(); return 1; } }));
      await Sub.resolve(1);
      await new Promise((resolve) => { done = resolve; setTimeout(ticked, 1); });
      await { then: (resolve) => { sloppy(); resolve(); } };
      return { toJSON: answer };`;
    const runner =
      await UnconfinedRunnerProcess.load(`${before}; module.exports = { handler: function (input, { host }) {
      sloppy(); return (async () => { ${handler} })(); } };`);
    runner.invoke(1);
    runner.reply(1, (await runner.next('call')).call, null);
    expect(await runner.outcome(1)).to.eql({ found: [], some: true });
  });

  it('the realm reaches no object of isolated-vm or of the process', async () => {
    const handler = `
      const seen = new Set(), bad = [];
      const visit = (value, path) => {
        if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value)) return;
        seen.add(value);
        const proto = Object.getPrototypeOf(value);
        if (/^(Reference|ExternalCopy|Callback|Isolate|Context|Script|Module|Dereference)$/.test(proto?.constructor?.name)) bad.push(path);
        if (typeof value === 'function' && 'applySync' in value) bad.push(path);
        visit(proto, path + '.__proto__');
        for (const key of Reflect.ownKeys(value)) {
          const { value: inner, get, set } = Object.getOwnPropertyDescriptor(value, key);
          visit(inner, path + '.' + String(key)); visit(get, path + '.get ' + String(key)); visit(set, path + '.set ' + String(key));
        }
      };
      visit(globalThis, 'globalThis'); visit(context, 'context'); visit(host.settings.get('x'), 'promise');
      const results = [host.log.info, host.items.read, setTimeout, console.log].map((f) => f.constructor('return this')() === globalThis);
      return { bad, results, many: seen.size > 500,
        names: [typeof process, typeof require, typeof WebAssembly, typeof SharedArrayBuffer, typeof Atomics, typeof fetch],
        imported: await import('node:fs').then(() => 'yes', () => 'no') };`;
    expect(await run('', handler)).to.eql({
      bad: [],
      results: [true, true, true, true],
      many: true,
      names: Array(6).fill('undefined'),
      imported: 'no',
    });
  });

  it('results may be proxies and thenables', async () => {
    for (const [answer, expected] of [
      [`new Proxy({ a: 1 }, { get: (target, key) => (key === 'then' ? undefined : target[key]) })`, { a: 1 }],
      [`new Proxy({}, { get() { throw 1; } })`, 'guest-error'],
      [
        `(() => { const p = Promise.resolve(1); p.constructor = { [Symbol.species]: 5 }; p.then = (f) => f(2); return p; })()`,
        2,
      ],
      [
        `(() => { const p = Promise.resolve(1); def(p, 'constructor', { get() { throw 1; } }); return p; })()`,
        'guest-error',
      ],
      [`{ then(resolve, reject) { resolve(1); resolve(2); reject(3); throw 4; } }`, 1],
      [`{ toJSON() { host.settings.get = 5; return Object.getPrototypeOf(host); } }`, null],
    ] as const) {
      expect(await run(TAMPER, `return ${answer};`), answer).to.eql(expected);
    }
  });

  it('an invocation of a shared realm cannot answer for another or make it answer twice', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      `let first; module.exports = { handler: (input, { host }) => {
        if (input === 1) return { then(resolve) { first = resolve; setTimeout(() => { resolve('one'); resolve('again'); }, 5); } };
        first?.('from the other'); return 'two';
      } };`,
      { reuse: true },
    );
    runner.invoke(1, 1);
    runner.invoke(2, 2);
    expect(await runner.outcome(2)).to.equal('two');
    expect(await runner.outcome(1)).to.be.oneOf(['one', 'from the other']);
    expect(await runner.run(3, 2)).to.equal('two');
    expect(runner.received).to.eql([]);
  });
});
