/**
 * The SDK for authors of extensions: functions that return their argument and give editors its type. Confined code may
 * import `defineJsonEndpoint`, `defineEventHook` and `defineFlowOperation` at run time. Everything else is a type or
 * for code with full authority or the admin app.
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
