/**
 * The program inside of a confined child: `node [flags] runner.cjs <isolated_vm.node>`, with the host at the other end
 * of file descriptor 3. It has no authority, and the host checks all its decisions again. It only keeps the guest's
 * isolate. Any error ends the process, since the host can easily start another one.
 */
import { constants } from 'node:os';
import {
  type ArtifactExport,
  type ChildMessage,
  type GuestLimits,
  type HandlerContextData,
  type HostMessage,
  PROTOCOL_VERSION,
} from '../protocol/messages.ts';
import { type HostChannel, openHostChannel } from './channel.ts';
import { type ArtifactIsolate, createArtifactIsolate, type GuestRealm, type IsolatedVmModule } from './isolate.ts';
import { createLoadedArtifactExecutor, type LoadedArtifactExecutor, serializeInvocation } from './loaded-artifact.ts';
import { parseRealmMessage } from './realm-message.ts';
import { SPARE_REALM_COUNT } from './realm-provider.ts';
import { warmUpRunner } from './warm-up.ts';

const EXIT_FAILED = 70;
const LONGEST_CONTRACT = 60 * 1024;

process.on('uncaughtException', () => process.exit(EXIT_FAILED));
process.on('unhandledRejection', () => process.exit(EXIT_FAILED));

const library: { exports: { ivm?: IsolatedVmModule } } = { exports: {} };
process.dlopen(library, process.argv[2] as string, constants.dlopen.RTLD_NOW);
const ivm = library.exports.ivm as IsolatedVmModule;
let prepared: { readonly isolate: ArtifactIsolate; readonly limits: GuestLimits } | undefined;
let program: LoadedArtifactExecutor | undefined;
let loaded = false;

const channel: HostChannel = openHostChannel(
  (header, body) => handleMessage(header as HostMessage, body),
  () => process.exit(0),
);
channel.send({ type: 'hello', protocol: PROTOCOL_VERSION });

function handleMessage(message: HostMessage, body: Buffer): void {
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
      // Guests run on this thread, so none of them executes now. With `isolate` the isolate is tested as well.
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

function invoke(id: number, entry: string, context: HandlerContextData, input: string): void {
  if (program) program.invoke(id, serializeInvocation(entry, context), input);
  else channel.send({ type: 'failure', id, code: 'guest-error' });
}

function prepare(limits: GuestLimits): ArtifactIsolate {
  const isolate = createArtifactIsolate(ivm, limits);
  warmUpRunner(isolate, limits);
  isolate.prepare(SPARE_REALM_COUNT);
  return isolate;
}

function load(
  { load, createRealm }: ArtifactIsolate,
  limits: GuestLimits,
  reuse: boolean,
  artifact: string,
): ChildMessage {
  try {
    load(artifact);
  } catch {
    return { type: 'refused', code: 'invalid-entry' };
  }
  const first = createRealm(true);
  const contract = first.state === 'ready' ? readContract(first) : undefined;
  if (contract === undefined) return { type: 'refused', code: first.state === 'timeout' ? 'timeout' : 'invalid-entry' };
  program = createLoadedArtifactExecutor({
    limits,
    reuse,
    first,
    createRealm: () => createRealm(false),
    send: channel.send,
  });
  return { type: 'loaded', contract };
}

/** Reads the contract, which is the first message of a realm created with `describe`. */
function readContract(realm: GuestRealm): ArtifactExport[] | undefined {
  const { words, body } = parseRealmMessage(realm.fetch() ?? '');
  if (words[0] !== 'loaded' || Buffer.byteLength(body) > LONGEST_CONTRACT) return undefined;
  return JSON.parse(body);
}
