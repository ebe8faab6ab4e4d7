# cuescope on a CPU, from this clone:
#
#     docker build -t cuescope .
#     docker run --rm -v "$PWD/clips:/data/clips:ro" -v cuescope:/audits cuescope \
#         investigate --model open-clip:ViT-B-16/openai --data folder:/data/clips --plan
#
# With a GPU: --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu130, and `docker run --gpus all`.
FROM python:3.11-slim AS wheels
WORKDIR /clone
RUN pip install --no-cache-dir hatchling==1.33.0
COPY . .
RUN PYTHONPATH=.ci python -m release.backend /wheels "$PWD"/core/engine "$PWD"/core/app "$PWD"/sdk "$PWD"/plugins/*/*

FROM python:3.11-slim
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ARG BUNDLE=cuescope-start
RUN pip install --no-cache-dir --upgrade pip==26.3 \
    && pip install --no-cache-dir --index-url "$TORCH_INDEX" torch==2.13.0 torchvision==0.28.0
# names of ours come from the clone alone: each is tied to its wheel
COPY --from=wheels /wheels/*.whl /wheels/
WORKDIR /wheels
RUN for wheel in *.whl; do \
        name="$(echo "${wheel%%-*}" | tr _ -)"; \
        echo "$name @ file:///wheels/$wheel"; \
    done > constraints.txt \
    && pip install --no-cache-dir --constraint constraints.txt "$BUNDLE"
RUN useradd --create-home --uid 1000 auditor && install -d -o auditor /audits
USER 1000
WORKDIR /audits
ENV CUESCOPE_CACHE=/audits/cache
ENTRYPOINT ["cuescope"]
CMD ["--help"]
