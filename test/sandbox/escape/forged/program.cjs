/**
 * A guest that has taken over its process: it holds the socket and sends any message. It runs in place of the runner
 * under the same confinement. The loaded script names the forgery.
 */
'use strict';
const { Socket } = require('node:net');

const socket = new Socket({ fd: 3, readable: true, writable: true, allowHalfOpen: true });
socket.on('error', () => process.exit());
socket.on('end', () => process.exit());

const frame = (head, body = '') => {
  const [header, bytes] = [Buffer.from(head), Buffer.from(body)];
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(header.length, 0);
  prefix.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([prefix, header, bytes]);
};
const raw = (bytes) => socket.write(bytes);
const say = (header, body) => raw(frame(JSON.stringify(header), body));
const result = (id, value) => say({ type: 'result', id }, JSON.stringify(value));
const announce = (header, body) => {
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(header, 0);
  prefix.writeUInt32BE(body, 4);
  return prefix;
};
const contract = [{ key: '', id: 'forged', handler: true, filters: [], actions: [] }];
const ROW = JSON.stringify(['articles', { title: 'forged' }]);
const CREATE = 'items.createOne';

/** Sends a message repeatedly, as fast as the host reads. */
const flood = (bytes) => {
  const many = Buffer.concat(Array.from({ length: Math.max(1, Math.floor(65536 / bytes.length)) }, () => bytes));
  const more = () => {
    while (socket.write(many));
    socket.once('drain', more);
  };
  more();
};
/** Makes host calls one after another and returns their outcomes. */
const asking = (...calls) => {
  const codes = [];
  return {
    invoke(id) {
      for (const [at, [method, body]] of calls.entries()) say({ type: 'call', id, call: at + 1, method }, body);
    },
    reply({ id, call, ok }, body) {
      codes[call - 1] = ok ? 'ok' : JSON.parse(body).code;
      if (Object.keys(codes).length === calls.length) result(id, codes);
    },
  };
};
const saying = (body) => ({ invoke: (id) => say({ type: 'result', id }, body) });
const breaking = (...bytes) => ({ invoke: () => raw(Buffer.concat(bytes)) });

const forgeries = {
  honest: { invoke: (id, input) => say({ type: 'result', id }, input) },

  // Ids of other invocations.
  'other ids': {
    invoke(id) {
      for (const other of [id - 1 || 7, id + 1, id + 2, 1000, 2 ** 40, Number.MAX_SAFE_INTEGER])
        say({ type: 'call', id: other, call: 1, method: CREATE }, ROW);
      say({ type: 'result', id: id + 1 }, '"too early"');
      say({ type: 'pong', id: id + 1 });
      setTimeout(() => result(id, 'done'), 50);
    },
  },
  'an id of another program': {
    invoke: (id) => say({ type: 'call', id, call: 1, method: CREATE }, ROW),
    reply: ({ id, ok }, body) => result(id, ok ? 'ok' : JSON.parse(body).code),
  },
  waits: { invoke() {} },
  'after it is over': {
    invoke(id) {
      result(id, 'done');
      for (let at = 0; at < 50; at++) say({ type: 'call', id, call: at, method: CREATE }, ROW);
      say({ type: 'result', id }, '"twice"');
      say({ type: 'failure', id, code: 'timeout' });
    },
  },
  'after it was cancelled': {
    invoke() {},
    cancel({ id }) {
      for (let at = 0; at < 50; at++) say({ type: 'call', id, call: at, method: CREATE }, ROW);
      say({ type: 'result', id }, '"late"');
    },
  },
  'ids that are none': { invoke: () => say({ type: 'call', id: -1, call: 1, method: CREATE }, ROW) },
  'ids that are texts': { invoke: (id) => say({ type: 'result', id: String(id) }, '1') },

  // Methods.
  'methods of others': asking(
    ...'items.constructor items.toString items.hasOwnProperty settings.set log.child database.query broker.register full.run'
      .split(' ')
      .map((method) => [method, '[]']),
    ...'request.send template.renderLiquid environment.read system.act config.get events.emit services.use'
      .split(' ')
      .map((method) => [method, '["x"]']),
  ),
  'methods that are none': { invoke: (id) => say({ type: 'call', id, call: 1, method: '__proto__.x' }, '[]') },
  'methods that are paths': { invoke: (id) => say({ type: 'call', id, call: 1, method: 'items/../database' }, '[]') },
  'its own authority alone': asking(
    ['items.createOne', ROW],
    ['items.createOne', '["platform_users",{"email":"forged@example.com"}]'],
    ['items.updateMany', '["articles",[1,2,3],{"title":"forged"}]'],
    ['items.deleteMany', '["articles",[1,2,3]]'],
    ['items.readMany', '["platform_users"]'],
  ),

  // JSON.
  'arguments that are no JSON': asking([CREATE, 'no'], [CREATE, ''], [CREATE, '{}'], [CREATE, '[1e999']),
  'arguments that are deep': asking(
    [CREATE, '['.repeat(100_000)],
    [CREATE, `["articles",${'{"a":'.repeat(120)}1${'}'.repeat(120)}]`],
  ),
  'arguments that are large': asking([CREATE, JSON.stringify(['articles', { title: 'x'.repeat(300_000) }])]),
  'prototypes and doubles': asking(
    ['items.readMany', '["articles",{"__proto__":{"limit":-1},"constructor":{"prototype":{"forged":1}}}]'],
    [CREATE, '["articles",{"title":"mine","title":"forged","__proto__":{"title":"forged"}}]'],
    ['items.readMany', '["articles",{"limit":9007199254740993}]'],
    ['items.readMany', `["articles",{"limit":${'9'.repeat(10_000)}}]`],
  ),
  'results that are no JSON': saying('no'),
  'results that are empty': saying(''),
  'results that are bytes': saying(Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28])),
  'results that are deep': saying('['.repeat(400_000) + ']'.repeat(400_000)),
  'results that are too large': saying(JSON.stringify('x'.repeat(1024 * 1024 + 1))),
  'results that are numbers without end': saying(`[${'9'.repeat(500_000)},1e99999]`),
  'results with prototypes': saying('{"status":200,"__proto__":{"status":418},"body":{"__proto__":{"polluted":1}}}'),
  'codes that are the host’s': { invoke: (id) => say({ type: 'failure', id, code: 'internal' }) },
  'unexpected members': { invoke: (id) => say({ type: 'result', id, user: 'admin' }, '1') },
  'members by prototype': breaking(frame('{"type":"result","__proto__":{"id":1}}', '1')),

  // Frames.
  'no frames': breaking(Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(10))),
  'bodies without end': breaking(announce(2, 0xffffffff), Buffer.alloc(1024 * 1024, 'x')),
  'headers without end': breaking(announce(0xffffffff, 0), Buffer.alloc(1024 * 1024, 'x')),
  'headers that are missing': breaking(announce(0, 0)),
  'headers that are lists': breaking(frame('[]')),
  'headers that are nothing': breaking(frame('null')),
  'headers that are deep': breaking(frame(`{"type":"loaded","contract":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)),
  'headers that are bytes': breaking(frame(Buffer.from([0xc3, 0x28, 0xa0]))),
  'half a frame': { invoke: () => raw(frame('{"type":"result","id":1}', '"whole"').subarray(0, 20)) },
  'a byte at a time': {
    invoke(id) {
      const bytes = frame(JSON.stringify({ type: 'result', id }), '"slow"');
      let at = 0;
      const next = () => at < bytes.length && socket.write(bytes.subarray(at, ++at), () => setImmediate(next));
      next();
    },
  },

  // Floods.
  'a flood of lines': {
    invoke: (id) => flood(frame(JSON.stringify({ type: 'call', id, call: 0, method: 'log.error' }), '["forged"]')),
  },
  'a flood of long lines': {
    invoke: (id) =>
      flood(
        frame(
          JSON.stringify({ type: 'call', id, call: 0, method: 'log.error' }),
          JSON.stringify(['x'.repeat(200_000), 'y']),
        ),
      ),
  },
  'a flood of calls': {
    invoke: (id) => flood(frame(JSON.stringify({ type: 'call', id, call: 1, method: CREATE }), ROW)),
  },
  'a flood of messages without an invocation': {
    invoke: () => flood(frame('{"type":"call","id":99,"call":1,"method":"items.readMany"}', '["articles"]')),
  },
  'a flood of pongs': { invoke: () => flood(frame('{"type":"pong","id":1000}')) },
  'a flood of large results': {
    invoke: () => flood(frame('{"type":"result","id":99}', Buffer.alloc(1024 * 1024, 'x'))),
  },

  // Silence.
  'never reads again': {
    invoke(id) {
      socket.pause();
      flood(
        frame(JSON.stringify({ type: 'call', id, call: 1, method: 'items.readMany' }), '["articles",{"fields":["*"]}]'),
      );
    },
  },
  'hangs, and says it is well': {
    invoke() {},
    cancel({ id }) {
      say({ type: 'pong', id });
      for (const until = Date.now() + 3000; Date.now() < until; );
    },
  },
  'hangs for good': {
    invoke() {
      for (;;);
    },
  },
  exits: { invoke: () => process.exit(0) },
  'closes the socket': { invoke: () => socket.end() },

  // Out of turn.
  'hello twice': { invoke: () => say({ type: 'hello', protocol: 1 }) },
  'loaded twice': { invoke: () => say({ type: 'loaded', contract }) },
  'refused after loaded': { invoke: () => say({ type: 'refused', code: 'timeout' }) },
  'messages of the host': { invoke: (id) => say({ type: 'reply', id, call: 1, ok: true }, 'null') },

  // While it is loaded.
  'loads for ever': { load() {} },
  'a contract of thousands': { load: () => say({ type: 'loaded', contract: Array(2000).fill(contract[0]) }) },
  'a contract of other things': {
    load: () => say({ type: 'loaded', contract: [{ ...contract[0], filters: { length: 1e9 } }] }),
  },
  'calls while it is loaded': {
    load() {
      for (let at = 1; at < 500; at++) say({ type: 'call', id: 1, call: at, method: CREATE }, ROW);
      say({ type: 'loaded', contract });
    },
    invoke: (id) => result(id, 'done'),
  },
  'a result before it is loaded': { load: () => say({ type: 'result', id: 1 }, '"early"') },
};

let forgery = forgeries.honest;
let pending = Buffer.alloc(0);
const take = (header, body) => {
  if (header.type === 'load') {
    forgery = forgeries[body.toString()] ?? forgeries.honest;
    if (forgery.load) forgery.load();
    else say({ type: 'loaded', contract });
  } else if (header.type === 'invoke') forgery.invoke?.(header.id, body);
  else if (header.type === 'reply') forgery.reply?.(header, body.toString());
  else if (header.type === 'cancel') forgery.cancel?.(header);
};
socket.on('data', (chunk) => {
  pending = Buffer.concat([pending, chunk]);
  while (pending.length >= 8) {
    const [head, body] = [pending.readUInt32BE(0), pending.readUInt32BE(4)];
    if (pending.length < 8 + head + body) return;
    take(JSON.parse(pending.subarray(8, 8 + head)), pending.subarray(8 + head, 8 + head + body));
    pending = pending.subarray(8 + head + body);
  }
});
say({ type: 'hello', protocol: 1 });
