import type { Message } from "@assent/protocol";
import { render, screen } from "@testing-library/react";
import { act } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Actions } from "../../session.ts";
import { message, task } from "../../testing/samples.ts";
import { type Place, ViewStateStore } from "../../viewState.ts";
import { ViewContext } from "../ViewContext.ts";
import { type ChatHandle, ChatView } from "./ChatView.tsx";
