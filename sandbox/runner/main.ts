/**
 * The program inside of a confined child: `node [flags] runner.cjs <isolated_vm.node>`, with the host at the other end of
 * file descriptor 3. It holds no authority and decides nothing that the host does not decide again; it only keeps the
 * guest's isolate. Whatever is out of order ends it, since another one is easily had.
 */
import { constants } from 'node:os';
import {
  type ContractEntry,
  type FromChild,
  type GuestContext,
  type Limits,
  PROTOCOL,
  type ToChild,
} from '../protocol/messages.ts';
import { type Channel, openChannel } from './channel.ts';
import { type Isolate, type Ivm, makeIsolate, type Room } from './isolate.ts';
import { makeProgram, type Program, told } from './program.ts';
import { rehearse } from './rehearsal.ts';
import { read } from './said.ts';
import { SPARES } from './spares.ts';

const FAILED = 70;
const LONGEST_CONTRACT = 60 * 1024;

process.on('uncaughtException', () => process.exit(FAILED));
process.on('unhandledRejection', () => process.exit(FAILED));

const library: { exports: { ivm?: Ivm } } = { exports: {} };
process.dlopen(library, process.argv[2] as string, constants.dlopen.RTLD_NOW);
const ivm = library.exports.ivm as Ivm;
let prepared: { readonly isolate: Isolate; readonly limits: Limits } | undefined;
let program: Program | undefined;
let loaded = false;

const channel: Channel = openChannel(
  (header, body) => take(header as ToChild, body),
  () => process.exit(0),
);
channel.send({ type: 'hello', protocol: PROTOCOL });

function take(message: ToChild, body: Buffer): void {
  switch (message.type) {
    case 'invoke':
      invoke(message.id, message.entry, message.context, body.toString('utf8'));
      break;
    case 'reply':
      program?.reply(message.id, message.call, message.ok, body.toString('utf8'));
      break;
    case 'cancel':
      program?.cancel(message.id);
      break;
    case 'ping':
      // Guests run on this very thread, so none of them executes now; where it is asked for, the isolate is tried as well.
      if (message.isolate) prepared?.isolate.touch();
      channel.send({ type: 'pong', id: message.id });
      break;
    case 'prepare':
      if (prepared) throw new Error('a child is prepared once');
      prepared = { isolate: prepare(message.limits), limits: message.limits };
      break;
    case 'load':
      if (!prepared || loaded) throw new Error('a child is loaded once, when it is prepared');
      loaded = true;
      channel.send(load(prepared.isolate, prepared.limits, message.reuse, body.toString('utf8')));
      break;
    default:
      throw new Error('unknown message');
  }
}

function invoke(id: number, entry: string, context: GuestContext, input: string): void {
  if (program) program.invoke(id, told(entry, context), input);
  else channel.send({ type: 'failure', id, code: 'guest-error' });
}

function prepare(limits: Limits): Isolate {
  const isolate = makeIsolate(ivm, limits);
  rehearse(isolate, limits);
  isolate.prepare(SPARES);
  return isolate;
}

function load({ load, room }: Isolate, limits: Limits, reuse: boolean, artifact: string): FromChild {
  try {
    load(artifact);
  } catch {
    return { type: 'refused', code: 'invalid-entry' };
  }
  const first = room(true);
  const contract = first.state === 'ready' ? contractOf(first) : undefined;
  if (contract === undefined) return { type: 'refused', code: first.state === 'timeout' ? 'timeout' : 'invalid-entry' };
  program = makeProgram({ limits, reuse, first, makeRoom: () => room(false), send: channel.send });
  return { type: 'loaded', contract };
}

/** The first thing a described room has to say. */
function contractOf(room: Room): ContractEntry[] | undefined {
  const { words, body } = read(room.fetch() ?? '');
  if (words[0] !== 'loaded' || Buffer.byteLength(body) > LONGEST_CONTRACT) return undefined;
  return JSON.parse(body);
}
