import { service } from '#kernel';

/** The limit of the load of this process. */
export interface PressureLimit {
  /** Refuses work while the process is overloaded; never where PRESSURE_LIMITER_ENABLED is off. @throws SERVICE_UNAVAILABLE */
  assertNotOverloaded(): void;
}

/** For plugins by which clients reach the service without a request to a route. */
export const pressureLimit = service<PressureLimit>('pressure-limit', { version: '1.0.0', coreOnly: true });
