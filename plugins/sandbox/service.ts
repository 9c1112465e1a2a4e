import type { Log } from '#kernel';
import { eventLoopTurn } from '../../sandbox/host/event-loop-turn.ts';
import type { SupervisedProgram as Process } from '../../sandbox/host/supervisor/supervisor.ts';
import type { CurrentObserver } from '../telemetry/library.ts';
import type { ConfinedRuntimeState, GuestProgram, Sandbox, SandboxProgram } from './contract.ts';
import { invokeGuest, toGuestFailure } from './invoke.ts';
import { GuestFailure } from './library.ts';
import type { AvailableConfinedRuntime, ConfinedRuntimeStartResult, CreateLauncher } from './runtime.ts';
import { readArtifactLimit, type SandboxConfig } from './settings.ts';

/** Creates the service `sandbox`. No process starts before `runtime()` is called. */
export function createSandbox(
  config: SandboxConfig,
  launch: CreateLauncher,
  log: Log,
  observer?: CurrentObserver,
): { readonly sandbox: Sandbox; processes(): Record<'endpoints' | 'hooks', number>; stop(): Promise<void> } {
  let state: ConfinedRuntimeState = { state: 'not-required', posture: null };
  let resolving: Promise<ConfinedRuntimeStartResult> | undefined;
  let live: AvailableConfinedRuntime | undefined;
  let isStopped = false;

  async function resolve(): Promise<ConfinedRuntimeStartResult> {
    const { startConfinedRuntime } = await import('./runtime.ts');
    await eventLoopTurn();
    const resolved = await startConfinedRuntime(config, launch, log);
    if (resolved.mayRetry) resolving = undefined;
    state = resolved.state;
    live = resolved.live;
    return resolved;
  }

  const resolved = (): Promise<ConfinedRuntimeStartResult> => (resolving ??= resolve());

  async function running(): Promise<AvailableConfinedRuntime> {
    if (isStopped) throw new GuestFailure('internal');
    const found = live ?? (await resolved()).live;
    if (!found || isStopped) throw new GuestFailure('internal');
    return found;
  }

  function open(program: SandboxProgram): GuestProgram {
    const { script, reuse, kind, onParked } = program;
    const brokerAccess = program.brokerAccess;
    let isClosed = false;
    let process: Process | undefined;
    const processOf = (live: AvailableConfinedRuntime): Process =>
      (process ??= live[kind === 'hooks' ? 'hooks' : 'endpoints'].open({
        name: brokerAccess.holder.name,
        script,
        reuse,
        onParked: (detail) => onParked({ code: 'RUNTIME_CRASHED', detail }),
      }));
    // Opened before the first invocation, for which a spare process may be ready then.
    if (live && !isStopped) processOf(live);
    return {
      async invoke(run) {
        const on = live && !isStopped ? live : await running();
        if (isClosed) throw new GuestFailure('internal');
        const invoke = () => invokeGuest({ brokerAccess, process: processOf(on), limits: on.limits, log }, run);
        if (!observer?.current) return invoke();
        const owner = (run.brokerAccess ?? brokerAccess).holder.name;
        return observer.current.run({ kind: 'invocation', owner, name: run.entry || 'endpoint' }, invoke);
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
    maxArtifact: () => readArtifactLimit(config),
    open,
    async probe(script) {
      const { endpoints } = await running();
      try {
        return await endpoints.probe(script);
      } catch (error) {
        throw toGuestFailure(error);
      }
    },
  };
  return {
    sandbox,
    processes: () => ({ endpoints: live?.endpoints.living() ?? 0, hooks: live?.hooks.living() ?? 0 }),
    async stop() {
      isStopped = true;
      await (await resolving)?.live?.close();
    },
  };
}
