/**
 * The kit of people who write extensions: functions that answer what they are given, so that an editor knows what belongs
 * there. Confined code may import the first three at run time; everything else is for code with full authority, for the
 * admin app, or a type.
 */

export {
  defineDisplay,
  defineInterface,
  defineItemView,
  defineLayout,
  defineModule,
  defineOperationApp,
  definePanel,
} from './app.ts';
export {
  type Accountability,
  type Activation,
  type ConfinedContext,
  defineEventHook,
  defineFlowOperation,
  defineJsonEndpoint,
  type EventHook,
  type EventPayload,
  type FlowOperation,
  type JsonEndpoint,
  type JsonRequest,
  type JsonResponse,
} from './confined.ts';
export {
  defineEndpoint,
  defineHook,
  defineOperationApi,
  type Endpoint,
  type ExtensionContext,
  type Hook,
  type HookRegister,
  type OperationApi,
  type OperationContext,
  type RequestHandler,
  type Router,
} from './full.ts';
export type {
  Answer,
  ConfinedHost,
  Declared,
  HostOf,
  ItemsHost,
  ItemsQuery,
  Json,
  JsonObject,
  LogHost,
  RequestHost,
  SecretReference,
  SettingsHost,
  TemplateHost,
} from './host.ts';
