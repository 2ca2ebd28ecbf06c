export { visible } from "@assent/protocol/visible";
