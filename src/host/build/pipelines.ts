import "reflect-metadata";
import { inject, injectable } from "tsyringe";
import type { PipelineWork, StreamPipeline, StreamPipelines } from "../../core/ports/pipeline.ts";
import { token } from "../../core/values/token.ts";

/** Creates a run's container and its pipeline. */
export type OpenRun = (work: PipelineWork) => StreamPipeline;
export const OpenRun = token<OpenRun>("OpenRun");

@injectable()
export class Pipelines implements StreamPipelines {
  readonly #open: OpenRun;

  constructor(@inject(OpenRun) open: OpenRun) {
    this.#open = open;
  }

  open(work: PipelineWork): StreamPipeline {
    return this.#open(work);
  }
}
