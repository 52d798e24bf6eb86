//! Convolution, pooling, normalisation, activation and recurrent networks on hip-safe's memory: MIOpen, or what stands in its place.
