/** The operations of routes as documents have them, without a service. */
export { documentRoutes } from './document/build-document.ts';
