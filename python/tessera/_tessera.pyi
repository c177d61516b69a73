"""
Boundary-conditional diffusion of discrete data: the library's classes.
"""
from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import os
import torch
import typing
__all__: list[str] = ['Bits', 'BleuParts', 'Candidate', 'ChrfParts', 'Codebook', 'Corpus', 'DecodedExit', 'EmbeddingTable', 'Error', 'Exit', 'ImageSampler', 'Loss', 'Noised', 'Process', 'RougeParts', 'Sample', 'SampleStep', 'Sampler', 'Score', 'ScoreComparison', 'ScoreInterval', 'Split', 'Steps', 'StoppingTime', 'Tokenizer', 'Trajectory', 'Translation', 'TranslationStep', 'Translator', 'UsageError', 'bleu', 'chrf', 'date_pairs', 'network_time', 'objective', 'raise_deferred_errors', 'rouge']
class Trajectory:
    """
    How a clean point becomes noise: x = u * x0 + v * eps, at times in [0, horizon].
    """
    def __init__(self, kind: str = 'ot', *, horizon: typing.SupportsInt | typing.SupportsIndex = 2000, sigma_min: typing.SupportsFloat | typing.SupportsIndex = 0.01, sigma_max: typing.SupportsFloat | typing.SupportsIndex = 50.0) -> None:
        ...
    def __repr__(self) -> str:
        ...
    def ratio(self, tau: torch.Tensor | numpy.ndarray) -> torch.Tensor:
        """
        u / v, which falls with time; infinite where v is 0.
        """
    def time_of_ratio(self, rho: torch.Tensor | numpy.ndarray) -> torch.Tensor:
        """
        The inverse of ratio(), in [0, horizon].
        """
    def u(self, tau: torch.Tensor | numpy.ndarray) -> torch.Tensor:
        ...
    def v(self, tau: torch.Tensor | numpy.ndarray) -> torch.Tensor:
        ...
    @property
    def horizon(self) -> float:
        ...
    @property
    def kind(self) -> str:
        ...
class Exit:
    """
    When paths leave the cells they start in.
    """
    @property
    def outside(self) -> torch.Tensor:
        """
        [...] bool: x0 was outside; the time is 0
        """
    @property
    def time(self) -> torch.Tensor:
        """
        [...] of the first exit; infinite where there is none
        """
class DecodedExit:
    @property
    def exit(self) -> Exit:
        ...
    @property
    def labels(self) -> torch.Tensor:
        """
        [...] int64: what x0 decodes to
        """
class StoppingTime:
    @property
    def no_exit(self) -> torch.Tensor:
        """
        [...] bool: the path never leaves
        """
    @property
    def outside(self) -> torch.Tensor:
        """
        [...] bool: x0 was outside; t0 is 0
        """
    @property
    def t0(self) -> torch.Tensor:
        """
        [...] in [0, horizon]
        """
class Codebook:
    """
    Symbols and the points that stand for them. A point decodes to the symbol with the largest score; the points of a symbol are its cell.
    
    Shapes: labels [...] int64, points [..., dim].
    """
    def cross_entropy(self, x: torch.Tensor | numpy.ndarray, labels: torch.Tensor | numpy.ndarray, label_smoothing: typing.SupportsFloat | typing.SupportsIndex = 0.0) -> torch.Tensor:
        """
        Of the softmax over the scores; 0 for labels that cannot be decoded.  -> [...]
        """
    def decode(self, x: torch.Tensor | numpy.ndarray) -> torch.Tensor:
        """
        [..., dim] -> [...]
        """
    def decode_and_exit(self, trajectory: Trajectory, x0: torch.Tensor | numpy.ndarray, eps: torch.Tensor | numpy.ndarray) -> DecodedExit:
        """
        The same for the cells that x0 lies in, with one set of scores for both.
        """
    def encode(self, labels: torch.Tensor | numpy.ndarray) -> torch.Tensor:
        """
        [...] -> [..., dim]; gradients flow to the weight.
        """
    def exit_time(self, trajectory: Trajectory, x0: torch.Tensor | numpy.ndarray, eps: torch.Tensor | numpy.ndarray, labels: torch.Tensor | numpy.ndarray) -> Exit:
        """
        First exit of the paths u * x0 + v * eps from the cells of the labels.
        """
    def mean(self, x: torch.Tensor | numpy.ndarray, logit_scale: typing.SupportsFloat | typing.SupportsIndex = 1.0) -> torch.Tensor:
        """
        The mean of the codes under the softmax over the scores; without gradients.
        """
    def scores(self, x: torch.Tensor | numpy.ndarray) -> torch.Tensor:
        """
        [..., dim] -> [..., symbols], -inf for symbols that cannot be decoded.
        """
    def stopping_time(self, trajectory: Trajectory, x0: torch.Tensor | numpy.ndarray, eps: torch.Tensor | numpy.ndarray, labels: torch.Tensor | numpy.ndarray, no_exit: str = 'full') -> StoppingTime:
        """
        The exit, with a finite time for paths that never leave: 'full' is the horizon, 'zero' is 0.
        """
    @property
    def decodable(self) -> int:
        """
        How many symbols points can decode to.
        """
    @property
    def dim(self) -> int:
        ...
    @property
    def symbols(self) -> int:
        ...
class EmbeddingTable(Codebook):
    """
    One code per symbol: score j of x is x . code_j + bias_j. Call refresh() after the weight has changed.
    """
    def __init__(self, weight: torch.Tensor | numpy.ndarray, *, bias: torch.Tensor | numpy.ndarray | None = None, normalise: typing.Literal['none', 'scaled', 'l2', 'layernorm'] = 'layernorm', undecodable: collections.abc.Sequence[int] = ()) -> None:
        """
        From a weight [symbols, dim], which is not copied; codes carry its gradient. bias [symbols].
            normalise: what is done to the rows of the table before they are used as codes
            undecodable: symbols that no point decodes to
        """
    def refresh(self) -> None:
        """
        Normalises the codes again: once per update of the weight.
        """
    @property
    def codes(*args, **kwargs):
        """
        [symbols, dim] as they are used, normalised
        """
class Bits(Codebook):
    """
    Symbols as vectors of +size and -size, a number for every bit.
    """
    def __init__(self, width: int = 8, *, device: str = 'cpu', gray: bool = False, order: typing.Literal['least-first', 'most-first'] = 'least-first', permutation: collections.abc.Sequence[int] = (), size: float = 1.0) -> None:
        """
        All 2^width patterns are symbols.
            gray: Gray code: neighbouring values differ in one bit
            order: which bit comes first
            permutation: values in another order before their bits are taken; empty: as they are
            size: s: a code is a vector of +s and -s
            width: bits per symbol
        """
class Noised:
    """
    Noisy points and where they came from.
    """
    @property
    def eps(self) -> torch.Tensor:
        """
        [B, ..., dim] the noise end of the paths
        """
    @property
    def no_exit(self) -> torch.Tensor:
        """
        [B, ...] bool: the path never leaves; None where r = 0
        """
    @property
    def outside(self) -> torch.Tensor:
        """
        [B, ...] bool: x0 outside its own cell; None where r = 0
        """
    @property
    def speed(self) -> torch.Tensor:
        """
        [B, ...] d tau / d t
        """
    @property
    def t0(self) -> torch.Tensor:
        """
        [B, ...] stopping time of every element
        """
    @property
    def tau(self) -> torch.Tensor:
        """
        [B, ...] rescaled time of every element
        """
    @property
    def x(self) -> torch.Tensor:
        """
        [B, ..., dim] u(tau) * x0 + v(tau) * eps
        """
class Process:
    """
    The forward process (Algorithm 1): paths from codes to noise, rescaled to begin on the borders of the cells.
    """
    def __init__(self, trajectory: typing.Literal['ot', 'vp-sqrt', 'vp-cosine', 'vp-linear', 've', 'vp-sine'] = 'ot', *, exact_index: bool = False, horizon: int = 2000, min_time: float = 0.0, min_time_from_codes: typing.Literal['none', 'spacing', 'spacing-plus-one'] = 'none', no_exit: typing.Literal['full', 'zero'] = 'full', noise_factor: float = 1.0, r: float = 1.0, sigma_max: float = 50.0, sigma_min: float = 0.01) -> None:
        """
        Immutable; threads may share it.
            exact_index: use the integer arithmetic of the paper's listing (VP only, for comparison)
            horizon: T, the number of time steps
            min_time: where times of training begin, as a share of the horizon; above 0, they are real numbers and not whole steps
            min_time_from_codes: let times of training begin no earlier than where noise is as large as the spacing of the codes, as they are at every update (Dinoiser); spacing-plus-one: where it is a little larger
            no_exit: stopping time of paths that never leave their cell: full is T, zero is 0
            noise_factor: F: the noise of training is F times a standard normal
            r: confidence factor: 0 is plain diffusion, 1 starts every path on the border of its cell
            sigma_max: noise at time T, for ve
            sigma_min: noise at time 0, for ve
            trajectory: how a clean point becomes noise along its path
        """
    def draw_noise(self, seed: typing.SupportsInt | typing.SupportsIndex, step: typing.SupportsInt | typing.SupportsIndex, samples: torch.Tensor | numpy.ndarray, shape: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> torch.Tensor:
        """
        Normal noise, a function of (seed, step, sample).  samples [B] int64 -> [B, *shape] float32
        """
    def draw_time(self, seed: typing.SupportsInt | typing.SupportsIndex, step: typing.SupportsInt | typing.SupportsIndex, samples: torch.Tensor | numpy.ndarray) -> torch.Tensor:
        """
        Training times, a function of (seed, step, sample).  samples [B] int64 -> [B] float32
        """
    def noise(self, codebook: Codebook, x0: torch.Tensor | numpy.ndarray, labels: torch.Tensor | numpy.ndarray, eps: torch.Tensor | numpy.ndarray, t: torch.Tensor | numpy.ndarray) -> Noised:
        """
        The noisy points at time t of the rescaled paths from x0 to eps. Gradients flow to x0.
            x0, eps [B, ..., dim], labels [B, ...] int64, t [B] in [0, horizon]
        """
    def training_time(self, codebook: Codebook, drawn: torch.Tensor | numpy.ndarray) -> torch.Tensor:
        """
        The same with the bound of min_time and min_time_from_codes, if there is one.
        """
    @property
    def horizon(self) -> float:
        ...
    @property
    def r(self) -> float:
        ...
    @property
    def trajectory(self) -> Trajectory:
        ...
class Loss:
    """
    Scalars with their gradients; total is their weighted sum.
    """
    @property
    def cross_entropy(self) -> torch.Tensor:
        ...
    @property
    def mse(self) -> torch.Tensor:
        ...
    @property
    def total(self) -> torch.Tensor:
        ...
class SampleStep:
    """
    The state before a step, and the estimate made from it.
    """
    @property
    def eps_hat(self) -> torch.Tensor:
        """
        [B, ..., dim] the noise end of their paths
        """
    @property
    def index(self) -> int:
        """
        from 0
        """
    @property
    def labels(self) -> torch.Tensor:
        """
        [B, ...] what it decodes to
        """
    @property
    def t(self) -> float:
        """
        the time told to the network
        """
    @property
    def tau(self) -> torch.Tensor:
        """
        [B, ...] their rescaled times
        """
    @property
    def x(self) -> torch.Tensor:
        """
        [B, ..., dim] the noisy points given to the network
        """
    @property
    def x0_hat(self) -> torch.Tensor:
        """
        [B, ..., dim] the network's estimate
        """
class Sample:
    @property
    def calls(self) -> int:
        """
        network calls made
        """
    @property
    def labels(self) -> torch.Tensor:
        """
        [B, ...] int64
        """
    @property
    def x0(self) -> torch.Tensor:
        """
        [B, ..., dim] the last estimate
        """
class Sampler:
    """
    The reverse process (Algorithm 2): symbols from noise. Runs without gradients.
    """
    def __init__(self, process: Process, codebook: Codebook, denoiser: collections.abc.Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor], *, alter: bool = True, boundary_of: typing.Literal['prediction', 'rounded'] = 'prediction', clip: float = 0.0, clock: typing.Literal['absolute', 'velocity'] = 'absolute', estimate: typing.Literal['raw', 'mean', 'nearest', 'rescaled'] = 'raw', eta: float = 1.0, final_call: bool = False, grid: typing.Literal['uniform', 'respaced'] = 'uniform', logit_scale: float = 1.0, noise: typing.Literal['none', 'gaussian', 'as-printed'] = 'none', noise_factor: float = 1.0, noise_of: typing.Literal['state', 'told'] = 'state', r: float | None = None, rescale_reverse: bool = True, seed: int = 0, self_conditioning: bool = True, shown: typing.Literal['raw', 'mean', 'nearest', 'rescaled'] = 'raw', skip_last: int = 0, state_end: float = 0.0, steps: int = 20, time_difference: float = 0.0, told_end: float | None = None, variance: typing.Literal['posterior', 'large'] = 'posterior') -> None:
        """
        The denoiser is any callable: denoiser(x, t, previous) -> x0_hat, with x and previous [B, ..., dim] and t [B]. `previous` is its last estimate, zeros at first.
            alter: recompute the noise end of the path at every step; false keeps the path fixed
            boundary_of: take the stopping time of the estimate itself, or of the code it decodes to
            clip: clamp the estimate to [-clip, clip]; 0: not
            clock: rescaled time of a position in sampling: computed anew at each step (absolute), or moved by its speed (velocity)
            estimate: point that a path is built from: the network's estimate (raw), the mean of the codes weighted by its scores (mean), the nearest code (nearest), or the estimate scaled to a code's length (rescaled)
            eta: amount of that noise; 1 is ancestral sampling
            final_call: call the network once more at the end, at t = 1, from the last state
            grid: how the steps are spread over time
            logit_scale: points are multiplied by it before they are scored: as in the objective
            noise: noise added on the way: none, gaussian, or as the paper prints it
            noise_factor: F of decoding: noise is F times a standard normal
            noise_of: time at which the noise end of the path is recomputed: that of the state, or the one that the network is told (CEDI)
            r: confidence factor of sampling: 0 is plain diffusion, 1 starts at the borders of the cells; none: that of training
            rescale_reverse: follow the rescaled clock; false is the paper's "forward only", the same as r = 0
            seed: seed of the noise that validation draws; commands take --seed
            self_conditioning: show the network its last estimate
            shown: form in which the network sees its last estimate: that of training
            skip_last: steps left out at the end of the grid
            state_end: time at which the uniform grid ends, as a share of the horizon
            steps: number of sampling steps, at most the horizon; more steps take longer
            time_difference: steps by which the state is ahead of the time that the network is told (asymmetric steps)
            told_end: the network is told times of another grid, which ends at this share of the horizon (CEDI); none: it is told the time of the state
            variance: variance of gaussian noise: that of the posterior, or the large one of DDPM
        """
    def run(self, samples: torch.Tensor | numpy.ndarray | typing.SupportsInt | typing.SupportsIndex, shape: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], callback: collections.abc.Callable | None = None, *, seeds: torch.Tensor | numpy.ndarray | None = None) -> Sample:
        """
        Makes samples from noise, which is a function of (seed, sample).
            samples   how many, or their numbers [B] int64
            shape     of one sample: (..., dim)
            callback  sees every step (SampleStep); returns False to stop
            seeds     [B] int64: of every sample, instead of the option `seed`
        """
    def run_from(self, noise: torch.Tensor | numpy.ndarray, samples: torch.Tensor | numpy.ndarray | typing.SupportsInt | typing.SupportsIndex | None = None, callback: collections.abc.Callable | None = None, *, seeds: torch.Tensor | numpy.ndarray | None = None) -> Sample:
        """
        The same from the given noise [B, ..., dim].
        """
    @property
    def calls(self) -> int:
        ...
    @property
    def times(self) -> list[float]:
        """
        Times of the network calls, descending, and the one that ends the last step.
        """
class Tokenizer:
    """
    Lines of text to symbols and back.
    """
    bos: typing.ClassVar[int] = 0
    eos: typing.ClassVar[int] = 2
    pad: typing.ClassVar[int] = 1
    unk: typing.ClassVar[int] = 3
    def __init__(self, folder: os.PathLike | str | bytes) -> None:
        """
        From the folder of a model or of a corpus.
        """
    def __len__(self) -> int:
        ...
    def decode(self, ids: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> str:
        """
        The text, up to the first end symbol.
        """
    @typing.overload
    def encode(self, line: str) -> numpy.typing.NDArray[numpy.int32]:
        """
        Numbers of the symbols, int32, without the end symbol.
        """
    @typing.overload
    def encode(self, lines: collections.abc.Sequence[str]) -> list[numpy.typing.NDArray[numpy.int32]]:
        ...
    def id(self, symbol: str) -> int:
        """
        The number of a symbol, that of <unk> where it is unknown.
        """
    def pieces(self, ids: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> list[str]:
        """
        The symbols as they are: 'kle@@', 'iner', '</s>'.
        """
class Split:
    """
    Pairs of sentences as numbers of symbols.
    """
    def __len__(self) -> int:
        ...
    def source(self, index: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.int32]:
        """
        int32, with the end symbol: a view of the file, which it keeps mapped.
        """
    def target(self, index: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.int32]:
        """
        The same of the target.
        """
    @property
    def source_lines(self) -> list[str]:
        """
        The lines as they were given; the training split keeps none.
        """
    @property
    def target_lines(self) -> list[str]:
        ...
class Corpus:
    """
    A folder that `tessera prepare` wrote.
    """
    def __contains__(self, split: str) -> bool:
        ...
    def __getitem__(self, split: str) -> Split:
        ...
    def __init__(self, folder: os.PathLike | str | bytes) -> None:
        ...
    @property
    def fingerprint(self) -> str:
        ...
    @property
    def splits(self) -> list[str]:
        ...
    @property
    def tokenizer(self) -> Tokenizer:
        ...
    @property
    def unused_in_targets(self) -> list[int]:
        """
        Symbols that no training target has: nothing should decode to them.
        """
class Candidate:
    @property
    def confidence(self) -> float:
        """
        mean log-probability of its symbols
        """
    @property
    def expected_bleu(self) -> float:
        """
        sentence BLEU against the other candidates, mean, 0 to 100
        """
    @property
    def length(self) -> int:
        """
        symbols there was room for, end included
        """
    @property
    def score(self) -> float:
        """
        the one that decided the choice
        """
    @property
    def symbols(self) -> list[int]:
        """
        without the end symbol
        """
    @property
    def text(self) -> str:
        ...
class Translation:
    """
    A translation and how it was chosen.
    """
    @property
    def candidates(self) -> list[Candidate]:
        ...
    @property
    def chosen(self) -> int:
        """
        the place of `text` among the candidates
        """
    @property
    def nfe(self) -> int:
        """
        network calls
        """
    @property
    def predicted_length(self) -> int:
        """
        symbols, end included
        """
    @property
    def ranking(self) -> list[int]:
        """
        places of the candidates, best first
        """
    @property
    def text(self) -> str:
        ...
    @property
    def truncated(self) -> bool:
        """
        the text was longer than the model can read
        """
class TranslationStep:
    """
    A step of a diffusion model.   K candidates, L padded length
    """
    @property
    def calls(self) -> int:
        """
        network calls when all steps are done
        """
    @property
    def index(self) -> int:
        ...
    @property
    def labels(self) -> torch.Tensor:
        """
        [K, L] int64: what the network sees in the noisy points
        """
    @property
    def noisy(self) -> torch.Tensor:
        """
        [K, L] int64: what the noisy points themselves decode to
        """
    @property
    def pieces(self) -> list[list[str]]:
        """
        symbols of the labels, one for every place
        """
    @property
    def t(self) -> float:
        """
        the time told to the network
        """
    @property
    def texts(self) -> list[str]:
        """
        of the labels, one for every candidate
        """
    @property
    def visible(self) -> torch.Tensor:
        """
        [K, L] bool: positions that count; the others are padding
        """
class Steps:
    """
    The steps of a translation, which the model makes while they are read.
    """
    def __iter__(self) -> typing.Any:
        ...
    def __next__(self) -> TranslationStep:
        ...
    @property
    def result(self) -> Translation:
        """
        The translation, when all steps are done.
        """
class Translator:
    """
    A trained model: text in, text out. Threads may share one.
    """
    def __call__(self, texts: str | collections.abc.Sequence[str], *, seed: int | None = None, steps: int | None = None, r: float | None = None, sampler: str | None = None, path: typing.Literal['altered', 'fixed'] | None = None, clock: typing.Literal['absolute', 'velocity'] | None = None, estimate: typing.Literal['raw', 'mean', 'nearest', 'rescaled'] | None = None, order: typing.Literal['random', 'confidence'] | None = None, predictor: typing.Literal['ancestral', 'euler', 'tau-leaping'] | None = None, correctors: int | None = None, temperature: float | None = None, preset: typing.Literal['fast', 'balanced', 'best'] | None = None, candidates: str | None = None, lengths: int | None = None, noises: int | None = None, length_choice: typing.Literal['likeliest', 'window', 'draw'] | None = None, merge_repeats: bool | None = None, length: str | None = None, selection: str | None = None, beam: int | None = None, length_penalty: float | None = None, top_k: int | None = None, batch_tokens: int | None = None, noise: typing.Literal['texts', 'lines'] | None = None) -> str | list[str]:
        """
        The translation of a text, or those of a list. Many at once are faster than one after the other.
        """
    def __init__(self, folder: str | os.PathLike[str], *, device: str = 'auto', precision: str = 'auto', checkpoint: str = '', reranker: str | os.PathLike[str] = '', seed: int = 1, steps: int | None = None, r: float | None = None, sampler: str | None = None, path: typing.Literal['altered', 'fixed'] | None = None, clock: typing.Literal['absolute', 'velocity'] | None = None, estimate: typing.Literal['raw', 'mean', 'nearest', 'rescaled'] | None = None, order: typing.Literal['random', 'confidence'] | None = None, predictor: typing.Literal['ancestral', 'euler', 'tau-leaping'] | None = None, correctors: int | None = None, temperature: float | None = None, preset: typing.Literal['fast', 'balanced', 'best'] | None = None, candidates: str | None = None, lengths: int | None = None, noises: int | None = None, length_choice: typing.Literal['likeliest', 'window', 'draw'] | None = None, merge_repeats: bool | None = None, length: str | None = None, selection: str | None = None, beam: int | None = None, length_penalty: float | None = None, top_k: int | None = None, batch_tokens: int | None = None, noise: typing.Literal['texts', 'lines'] | None = None) -> None:
        """
        From a model folder, or the folder of a training run. Options that are not set come from the folder; a call can change them.
            device: auto, cpu, cuda or cuda:N
            precision: float32, bfloat16, int8 (on a CPU), or auto: bfloat16 on CUDA only
            checkpoint: of a run: best, last or a step; empty: best, else last
            reranker: run or model for the selection 'rerank'
            steps: number of sampling steps, at most the horizon; more steps take longer
            r: confidence factor of sampling: 0 is plain diffusion, 1 starts at the borders of the cells; none: that of training
            sampler: deterministic (Algorithm 2), gaussian (noise is partly redrawn at each step), as-printed (Algorithm 3 to the letter), difformer (the baseline: r = 0, 15 of 20 steps)
            path: noise end of a sampling path: recomputed from each estimate (altered), or kept from the start (fixed)
            clock: rescaled time of a position in sampling: computed anew at each step (absolute), or moved by its speed (velocity)
            estimate: point that a path is built from: the network's estimate (raw), the mean of the codes weighted by its scores (mean), the nearest code (nearest), or the estimate scaled to a code's length (rescaled)
            order: which masks get their symbols first: as the reverse process has it (random), or the surest, others being masked again (confidence: Mask-Predict)
            predictor: a step of symbols: drawn from the reverse process (ancestral), by its rates (euler), or by numbers of jumps (tau-leaping), which add up for values in an order, such as pixels; of other symbols the first counts
            correctors: further steps at the same time after every step, each a network call
            temperature: above 0, symbols are drawn, and higher values vary more; 0: the likeliest ones. Keys: generate.temperature (ar), sampler.temperature (symbols)
            preset: work for a sentence: at most 6 (fast), 20 (balanced) or 100 (best) decoder passes; the default of lengths, noises, selection and steps (not for autoregressive models)
            candidates: candidates per line: 5 is five noises of the likeliest length, 7x3 is three noises for each of the seven likeliest lengths
            lengths: how many lengths are tried for every sentence
            noises: start noises of every length; a sentence has lengths x noises candidates
            length_choice: lengths to try: the likeliest ones (likeliest), the likeliest one and its neighbours (window), or lengths drawn by their probability (draw)
            merge_repeats: write a symbol once if it is repeated in a row: neighbours that are written at the same time often say the same (not for text of letters or digits)
            length: length of the output in symbols: exactly N, N more or fewer than predicted, or as in the references (oracle; evaluate only)
            selection: how to choose a candidate: by agreement with the others (mbr, by sentence BLEU), by the model's mean log-probability (confidence), by both (blend), within each length and then across lengths (staged; not for autoregressive models), or by the probability that an autoregressive model gives it (rerank; requests and flags only)
            beam: autoregressive models: number of hypotheses, 1 is greedy; with a temperature, number of sentences to draw
            length_penalty: autoregressive models: hypotheses are ranked by log-probability divided by length to this power
            top_k: autoregressive models: draw among so many of the likeliest symbols; 0: all
            batch_tokens: size of a batch, in candidates x padded length; lower it if memory runs out
            noise: what random numbers depend on beside the seed: nothing, so that equal lines give equal results (texts, the default), or the number of the line (lines)
        """
    def candidates(self, texts: str | collections.abc.Sequence[str], *, seed: int | None = None, steps: int | None = None, r: float | None = None, sampler: str | None = None, path: typing.Literal['altered', 'fixed'] | None = None, clock: typing.Literal['absolute', 'velocity'] | None = None, estimate: typing.Literal['raw', 'mean', 'nearest', 'rescaled'] | None = None, order: typing.Literal['random', 'confidence'] | None = None, predictor: typing.Literal['ancestral', 'euler', 'tau-leaping'] | None = None, correctors: int | None = None, temperature: float | None = None, preset: typing.Literal['fast', 'balanced', 'best'] | None = None, candidates: str | None = None, lengths: int | None = None, noises: int | None = None, length_choice: typing.Literal['likeliest', 'window', 'draw'] | None = None, merge_repeats: bool | None = None, length: str | None = None, selection: str | None = None, beam: int | None = None, length_penalty: float | None = None, top_k: int | None = None, batch_tokens: int | None = None, noise: typing.Literal['texts', 'lines'] | None = None) -> Translation | list[Translation]:
        """
        The same with all candidates and their scores.
        """
    def options(self, *, steps: int | None = None, r: float | None = None, sampler: str | None = None, path: typing.Literal['altered', 'fixed'] | None = None, clock: typing.Literal['absolute', 'velocity'] | None = None, estimate: typing.Literal['raw', 'mean', 'nearest', 'rescaled'] | None = None, order: typing.Literal['random', 'confidence'] | None = None, predictor: typing.Literal['ancestral', 'euler', 'tau-leaping'] | None = None, correctors: int | None = None, temperature: float | None = None, preset: typing.Literal['fast', 'balanced', 'best'] | None = None, candidates: str | None = None, lengths: int | None = None, noises: int | None = None, length_choice: typing.Literal['likeliest', 'window', 'draw'] | None = None, merge_repeats: bool | None = None, length: str | None = None, selection: str | None = None, beam: int | None = None, length_penalty: float | None = None, top_k: int | None = None, batch_tokens: int | None = None, noise: typing.Literal['texts', 'lines'] | None = None) -> dict[str, typing.Any]:
        """
        All options as they are in effect with these changes.
        """
    def steps(self, text: str, *, seed: int | None = None, steps: int | None = None, r: float | None = None, sampler: str | None = None, path: typing.Literal['altered', 'fixed'] | None = None, clock: typing.Literal['absolute', 'velocity'] | None = None, estimate: typing.Literal['raw', 'mean', 'nearest', 'rescaled'] | None = None, order: typing.Literal['random', 'confidence'] | None = None, predictor: typing.Literal['ancestral', 'euler', 'tau-leaping'] | None = None, correctors: int | None = None, temperature: float | None = None, preset: typing.Literal['fast', 'balanced', 'best'] | None = None, candidates: str | None = None, lengths: int | None = None, noises: int | None = None, length_choice: typing.Literal['likeliest', 'window', 'draw'] | None = None, merge_repeats: bool | None = None, length: str | None = None, selection: str | None = None, beam: int | None = None, length_penalty: float | None = None, top_k: int | None = None, batch_tokens: int | None = None, noise: typing.Literal['texts', 'lines'] | None = None) -> Steps:
        """
        The steps of a diffusion model, one after the other, and then the result:
            steps = translator.steps('ein kleiner hund')
            for step in steps: print(step.t, step.texts[0])
            print(steps.result.text)
        """
    def watch(self, text: str, callback: collections.abc.Callable[[TranslationStep], bool | None], *, seed: int | None = None, steps: int | None = None, r: float | None = None, sampler: str | None = None, path: typing.Literal['altered', 'fixed'] | None = None, clock: typing.Literal['absolute', 'velocity'] | None = None, estimate: typing.Literal['raw', 'mean', 'nearest', 'rescaled'] | None = None, order: typing.Literal['random', 'confidence'] | None = None, predictor: typing.Literal['ancestral', 'euler', 'tau-leaping'] | None = None, correctors: int | None = None, temperature: float | None = None, preset: typing.Literal['fast', 'balanced', 'best'] | None = None, candidates: str | None = None, lengths: int | None = None, noises: int | None = None, length_choice: typing.Literal['likeliest', 'window', 'draw'] | None = None, merge_repeats: bool | None = None, length: str | None = None, selection: str | None = None, beam: int | None = None, length_penalty: float | None = None, top_k: int | None = None, batch_tokens: int | None = None, noise: typing.Literal['texts', 'lines'] | None = None) -> Translation | None:
        """
        Calls back at every step. A callback that returns False stops the work; the result is None then.
        """
    @property
    def folder(*args, **kwargs):
        ...
    @property
    def tokenizer(*args, **kwargs):
        ...
class ImageSampler:
    """
    A trained model of images. Threads may share one.
    """
    def __init__(self, folder: str | os.PathLike[str], *, device: str = 'auto', precision: str = 'auto', checkpoint: str = '', seed: int = 1, steps: int | None = None, r: float | None = None, sampler: str | None = None, path: typing.Literal['altered', 'fixed'] | None = None, clock: typing.Literal['absolute', 'velocity'] | None = None, estimate: typing.Literal['raw', 'mean', 'nearest', 'rescaled'] | None = None, order: typing.Literal['random', 'confidence'] | None = None, predictor: typing.Literal['ancestral', 'euler', 'tau-leaping'] | None = None, correctors: int | None = None, temperature: float | None = None, guidance: float | None = None, time_difference: float | None = None, batch: int | None = None) -> None:
        """
        From a model folder, or the folder of a training run. Options that are not set come from the folder; a call can change them.
            device: auto, cpu, cuda or cuda:N
            precision: float32, bfloat16, or auto: bfloat16 on CUDA only
            checkpoint: of a run: best, last or a step; empty: best, else last
            steps: number of sampling steps, at most the horizon; more steps take longer
            r: confidence factor of sampling: 0 is plain diffusion, 1 starts at the borders of the cells; none: that of training
            sampler: deterministic (Algorithm 2), gaussian (noise is partly redrawn at each step), as-printed (Algorithm 3 to the letter), difformer (the baseline: r = 0, 15 of 20 steps)
            path: noise end of a sampling path: recomputed from each estimate (altered), or kept from the start (fixed)
            clock: rescaled time of a position in sampling: computed anew at each step (absolute), or moved by its speed (velocity)
            estimate: point that a path is built from: the network's estimate (raw), the mean of the codes weighted by its scores (mean), the nearest code (nearest), or the estimate scaled to a code's length (rescaled)
            order: which masks get their symbols first: as the reverse process has it (random), or the surest, others being masked again (confidence: Mask-Predict)
            predictor: a step of symbols: drawn from the reverse process (ancestral), by its rates (euler), or by numbers of jumps (tau-leaping), which add up for values in an order, such as pixels; of other symbols the first counts
            correctors: further steps at the same time after every step, each a network call
            temperature: above 0, symbols are drawn, and higher values vary more; 0: the likeliest ones. Keys: generate.temperature (ar), sampler.temperature (symbols)
            guidance: strength of the class: 1 as trained, larger values make images more typical of the class
            time_difference: steps by which the state is ahead of the time that the network is told (asymmetric steps)
            batch: images made at a time; lower it if memory runs out
        """
    def options(self, **changes: typing.Any) -> dict[str, typing.Any]:
        """
        All options as they are in effect with these changes.
        """
    def sample(self, count: int, first: int = 0, label: str | int = '', *, seed: int | None = None, steps: int | None = None, r: float | None = None, sampler: str | None = None, path: typing.Literal['altered', 'fixed'] | None = None, clock: typing.Literal['absolute', 'velocity'] | None = None, estimate: typing.Literal['raw', 'mean', 'nearest', 'rescaled'] | None = None, order: typing.Literal['random', 'confidence'] | None = None, predictor: typing.Literal['ancestral', 'euler', 'tau-leaping'] | None = None, correctors: int | None = None, temperature: float | None = None, guidance: float | None = None, time_difference: float | None = None, batch: int | None = None) -> torch.Tensor:
        """
        Images number first, ..., first + count - 1, as uint8 [count, height, width, channels]. Image n is a function of (seed, n).
        label is a class by name or number; empty: all in turn, if the model knows some.
        """
    @property
    def classes(*args, **kwargs):
        ...
    @property
    def folder(*args, **kwargs):
        ...
    @property
    def shape(*args, **kwargs):
        """
        height, width and channels of an image
        """
class BleuParts:
    """
    What a BLEU score is made of.
    """
    @property
    def brevity_penalty(self) -> float:
        ...
    @property
    def cumulative(self) -> typing.Annotated[list[float], "FixedSize(4)"]:
        """
        BLEU-1 to BLEU-4
        """
    @property
    def hyp_len(self) -> int:
        """
        words
        """
    @property
    def precisions(self) -> typing.Annotated[list[float], "FixedSize(4)"]:
        """
        of n-grams, in percent
        """
    @property
    def ratio(self) -> float:
        """
        hyp_len / ref_len
        """
    @property
    def ref_len(self) -> int:
        """
        words
        """
class ChrfParts:
    @property
    def beta(self) -> int:
        ...
    @property
    def char_order(self) -> int:
        ...
    @property
    def word_order(self) -> int:
        ...
class RougeParts:
    @property
    def f1(self) -> float:
        ...
    @property
    def precision(self) -> float:
        ...
    @property
    def recall(self) -> float:
        ...
class ScoreInterval:
    """
    A score and where it would lie on others.
    """
    @property
    def high(self) -> float:
        ...
    @property
    def low(self) -> float:
        ...
    @property
    def mean(self) -> float:
        ...
    @property
    def score(self) -> float:
        ...
class ScoreComparison:
    """
    Two systems compared on the same lines, resampled many times.
    """
    @property
    def baseline(self) -> ScoreInterval:
        ...
    @property
    def difference(self) -> float:
        ...
    @property
    def p_value(self) -> float:
        """
        how often chance alone would make a difference this large
        """
    @property
    def signature(self) -> str:
        ...
    @property
    def system(self) -> ScoreInterval:
        ...
class Score:
    """
    One score of all texts; float(score) is its value.
    """
    def __float__(self) -> float:
        ...
    def __str__(self) -> str:
        ...
    @property
    def comparison(self) -> ScoreComparison | None:
        """
        None: there is nothing to compare with
        """
    @property
    def name(self) -> str:
        ...
    @property
    def parts(self) -> BleuParts | ChrfParts | RougeParts:
        ...
    @property
    def score(self) -> float:
        """
        0 to 100
        """
    @property
    def sentences(self) -> list[float]:
        """
        the score of every text
        """
    @property
    def signature(self) -> str:
        """
        what must be known to repeat it
        """
def bleu(hypotheses: collections.abc.Sequence[str], references: collections.abc.Sequence[str] | collections.abc.Sequence[collections.abc.Sequence[str]], *, tokenization: str | None = None, smoothing: str = 'exp', lowercase: bool = False, compare_with: collections.abc.Sequence[str] = [], samples: typing.SupportsInt | typing.SupportsIndex = 1000, seed: typing.SupportsInt | typing.SupportsIndex = 1) -> Score:
    """
    Corpus BLEU as sacreBLEU computes it.
        references    one document, or several, each with as many lines as there are hypotheses
        tokenization  13a (the default), none, or moses-13a
        smoothing     exp, floor, add-k or none
        compare_with  another system's lines: adds a paired bootstrap of so many samples
    """
def chrf(hypotheses: collections.abc.Sequence[str], references: collections.abc.Sequence[str] | collections.abc.Sequence[collections.abc.Sequence[str]], *, words: bool = False, lowercase: bool = False, compare_with: collections.abc.Sequence[str] = [], samples: typing.SupportsInt | typing.SupportsIndex = 1000, seed: typing.SupportsInt | typing.SupportsIndex = 1) -> Score:
    """
    Corpus chrF2 as sacreBLEU computes it; with words, chrF2++.
    """
def date_pairs(seed: typing.SupportsInt | typing.SupportsIndex = 1, pairs: typing.SupportsInt | typing.SupportsIndex = 20000) -> dict[str, list[tuple[str, str]]]:
    """
    Dates in many spellings and their ISO forms, by split: 'train', 'valid', 'test'. No date of one split occurs in another.
    """
def network_time(t: torch.Tensor | numpy.ndarray, horizon: typing.SupportsFloat | typing.SupportsIndex) -> torch.Tensor:
    """
    The time a network is told: (t - 1) * 1000 / horizon, the same range whatever the horizon.
    """
def objective(process: Process, codebook: Codebook, noised: Noised, x0_hat: torch.Tensor | numpy.ndarray, x0: torch.Tensor | numpy.ndarray, labels: torch.Tensor | numpy.ndarray, mask: torch.Tensor | numpy.ndarray | None = None, *, cross_entropy_weight: float = 1.0, dims: typing.Literal['mean-dims', 'sum-dims'] = 'mean-dims', label_smoothing: float = 0.0, logit_scale: float = 1.0, mse_weight: float = 1.0, rounding: typing.Literal['estimate', 'clean', 'clean-noised'] = 'estimate', target: typing.Literal['x0', 'velocity', 'noise'] = 'x0', terminal_weight: float = 0.0, velocity_cap: float = 10.0) -> Loss:
    """
    What the network's estimate lacks.
        x0_hat, x0 [B, ..., dim], labels [B, ...], mask [B, ...] bool (true: counts); None: all count
        cross_entropy_weight: weight of the cross-entropy of rounding the estimate to a symbol
        dims: how the squared error is taken over the dimensions of a point
        label_smoothing: share of the probability spread over all symbols that can be decoded
        logit_scale: points are multiplied by it before they are scored for the cross-entropy; with codes of length sqrt(d), 1/sqrt(d) lets estimates become as long as codes
        mse_weight: weight of the squared error
        rounding: point whose cross-entropy is taken: the estimate, or the clean codes, as they are or with the noise of the first step (the estimate then learns from the squared error alone)
        target: quantity whose squared error is taken: the clean point, the rescaled velocity, or the noise (DDPM)
        terminal_weight: weight of the mean square of what noise leaves of the codes at the horizon
        velocity_cap: largest weight of an element when the target is the velocity or the noise
    """
def raise_deferred_errors() -> None:
    """
    Raises Error if a check of values on a GPU has failed since the last call. Checks there do not wait for the device.
    """
def rouge(hypotheses: collections.abc.Sequence[str], references: collections.abc.Sequence[str] | collections.abc.Sequence[collections.abc.Sequence[str]], *, compare_with: collections.abc.Sequence[str] = [], samples: typing.SupportsInt | typing.SupportsIndex = 1000, seed: typing.SupportsInt | typing.SupportsIndex = 1) -> dict[str, Score]:
    """
    ROUGE-1, ROUGE-2 and ROUGE-L as rouge_score computes them, by name.
    """
__version__: str = '0.1.0'


class Error(RuntimeError):
    """
    What the library raises: the message says what is wrong and why, `hint` (may be empty) what to do about it.
    """
    hint: str

class UsageError(Error, ValueError):
    """
    A wrong argument or option.
    """

__version__: str
