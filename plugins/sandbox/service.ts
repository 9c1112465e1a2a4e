import type { Log } from '#kernel';
import type { Guest as Process } from '../../sandbox/host/supervisor/supervisor.ts';
import type { Guest, Program, RuntimeState, Sandbox } from './contract.ts';
import { asGuestFailure, invoke } from './guest.ts';
import { GuestFailure } from './library.ts';
import type { Launch, Live, Resolved } from './runtime.ts';
import { artifactLimit, type SandboxConfig } from './settings.ts';

/** The service and what ends it. Nothing is started before `runtime()` is asked for. */
export function createSandbox(
  config: SandboxConfig,
  launch: Launch,
  log: Log,
): { readonly sandbox: Sandbox; stop(): Promise<void> } {
  let state: RuntimeState = { state: 'not-required', posture: null };
  let resolving: Promise<Resolved> | undefined;
  let live: Live | undefined;
  let isStopped = false;

  async function resolve(): Promise<Resolved> {
    const { resolveRuntime } = await import('./runtime.ts');
    const resolved = await resolveRuntime(config, launch, log);
    if (resolved.again) resolving = undefined;
    state = resolved.state;
    live = resolved.live;
    return resolved;
  }

  const resolved = (): Promise<Resolved> => (resolving ??= resolve());

  async function running(): Promise<Live> {
    if (isStopped) throw new GuestFailure('internal');
    const found = live ?? (await resolved()).live;
    if (!found || isStopped) throw new GuestFailure('internal');
    return found;
  }

  function open(program: Program): Guest {
    const { admitted, script, reuse, kind, onParked } = program;
    const { name } = admitted.subject;
    let isClosed = false;
    let process: Process | undefined;
    const processOf = (live: Live): Process =>
      (process ??= live[kind === 'hooks' ? 'hooks' : 'open'].open({
        name,
        script,
        reuse,
        onParked: (detail) => onParked({ code: 'RUNTIME_CRASHED', detail }),
      }));
    // Known early, so that a process may be waiting when the first invocation comes.
    if (live && !isStopped) processOf(live);
    return {
      async invoke(run) {
        const on = live && !isStopped ? live : await running();
        if (isClosed) throw new GuestFailure('internal');
        return invoke({ admitted, process: processOf(on), limits: on.limits, log }, run);
      },
      restart: () => process?.restart(),
      state: () => process?.state() ?? 'idle',
      async close() {
        isClosed = true;
        await process?.close();
      },
    };
  }

  const sandbox: Sandbox = {
    runtime: async () => (await resolved()).state,
    state: () => state,
    maxArtifact: () => artifactLimit(config),
    open,
    async probe(script) {
      const { open } = await running();
      try {
        return await open.probe(script);
      } catch (error) {
        throw asGuestFailure(error);
      }
    },
  };
  return {
    sandbox,
    async stop() {
      isStopped = true;
      await (await resolving)?.live?.close();
    },
  };
}
